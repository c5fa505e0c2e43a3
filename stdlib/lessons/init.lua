-- The lessons, in order, by the names of their files: a lesson is one file and one line.  Used by: penumbra.lesson.files.
return {
  "01_neighbours",
  "02_gaussian",
  "03_composition",
  "04_floating_point",
  "05_noisy_descent",
  "06_geometry",
  "07_mirror_descent",
  "08_frank_wolfe",
  "09_variance_reduction",
  "10_running_sums",
  "11_zeroth_order",
  "12_saddle_points",
  "13_federated",
  "14_auditing",
  "15_own_solver",
  "16_sampling",
}
