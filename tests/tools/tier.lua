-- tier.lua -- which tier of the tests runs: the fast one of `make test`, in which every behaviour is seen once, or the thorough
-- one of `make test-all`, which sets PN_THOROUGH: more cases and repetitions, and real data.  C tests ask tests/check.h.
-- Depends on: nothing.  Used by: specs.
local tier = { thorough = (os.getenv "PN_THOROUGH" or "") ~= "" }

-- How many, in the one and in the other.
function tier.times(fast, thorough)
  return tier.thorough and thorough or fast
end

-- busted's `it` in the thorough tier, and in the fast one where `now`; else nothing.
function tier.it(it, now)
  return (tier.thorough or now) and it or function() end
end

-- How many draws, cases or damaged inputs: `full`, and `sanitized` under sanitizers, which look at memory alone; the same test runs
-- without them at its full power.
function tier.draws(full, sanitized)
  return (os.getenv "PN_SANITIZED" or "") ~= "" and sanitized or full
end

-- busted's `it` of a test whose subject is a law, an accuracy or a text, over many runs: nothing under sanitizers, with which it
-- takes ten times as long and runs no code that others of its file do not.
function tier.law(it)
  return (os.getenv "PN_SANITIZED" or "") ~= "" and function() end or it
end

return tier
