-- clinic_a.lua -- the first clinic:  penumbra party examples/federated/clinic_a.lua
-- It keeps its file, its secret key and its budget; what leaves it are noisy choices among its columns and noisy sketches of them.
return {
  name = "clinic_a",
  connect = "tcp://127.0.0.1:5571",
  server = "run/server.key.pub", -- the only server that it talks to
  keys = "run/clinic_a.key",

  data = { csv = "run/clinic_a.csv", options = { label = "outcome", columns = {
    "pressure", "pulse", "glucose", "cholesterol", "iron", "sodium", "potassium", "weight" } } },
  clip = { features = 1, labels = { -1, 1 } },                    -- enforced, public
  alignment = { key = "run/people.key", column = "patient" },     -- shared with the other clinic, not with the server

  ledger = { path = "run/clinic_a.ledger", epsilon = 4, delta = 1e-6 },
  person_epsilon = 3.5, -- over both clinics; terms that allow more are refused
  checkpoint = "run/clinic_a.state",
  model = "run/clinic_a.npy",
}
