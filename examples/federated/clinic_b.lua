-- clinic_b.lua -- the second clinic:  penumbra party examples/federated/clinic_b.lua
-- The same patients in another order, other columns, a budget of its own.
return {
  name = "clinic_b",
  connect = "tcp://127.0.0.1:5571",
  server = "run/server.key.pub",
  keys = "run/clinic_b.key",

  data = { csv = "run/clinic_b.csv", options = { label = "outcome", columns = {
    "steps", "sleep", "smoking", "alcohol", "fibre", "salt", "sugar", "stress" } } },
  clip = { features = 1, labels = { -1, 1 } },
  alignment = { key = "run/people.key", column = "patient" },

  ledger = { path = "run/clinic_b.ledger", epsilon = 4, delta = 1e-6 },
  person_epsilon = 3.5,
  checkpoint = "run/clinic_b.state",
  model = "run/clinic_b.npy",
}
