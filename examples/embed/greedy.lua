-- greedy.lua -- a script for host.c that wants too much: what it gets is an error that says so, and the host goes on.
local all = {}
while true do
  all[#all + 1] = pn.vec.zeros(100000)
end
