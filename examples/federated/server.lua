-- server.lua -- who leads the run and sees nobody's records:  penumbra server examples/federated/server.lua
return {
  listen = "tcp://127.0.0.1:5571", -- "tcp://0.0.0.0:5571" serves other hosts, too
  keys = "run/server.key",
  parties = { -- the columns of the model stand in this order
    { name = "clinic_a", key = "run/clinic_a.key.pub" },
    { name = "clinic_b", key = "run/clinic_b.key.pub" },
  },

  loss = "squared",
  radius = 1,             -- ||x||_1 of the model; a set for each party is {name=, key=, set = {kind = "simplex", radius = 2}}
  mode = "product",
  epsilon = 3, delta = 1e-6, -- of everything that both clinics release
  iterations = 12,
  clip = 1,               -- of what the shared features say of a patient, |x| <= 1 as the outcome: less noise on every choice
  sketch = { kind = "gaussian", m = 256, seed = 1 }, -- a feature is 256 numbers on the wire, not 20000

  checkpoint = "run/server.state",
  model = "run/model.npy",
  timeout = 300,
}
