-- The largest singular value of the matrix 1 / ((i + j)(i + j + 1) / 2 + i + 1), by the power method.

local function element(i, j)
  local ij = i + j
  return 1.0 / (math.floor(ij * (ij + 1) / 2) + i + 1)
end

local function times(v)
  local result, n = {}, #v
  for i = 1, n do
    local sum = 0.0
    for j = 1, n do sum = sum + element(i - 1, j - 1) * v[j] end
    result[i] = sum
  end
  return result
end

local function transposedTimes(v)
  local result, n = {}, #v
  for i = 1, n do
    local sum = 0.0
    for j = 1, n do sum = sum + element(j - 1, i - 1) * v[j] end
    result[i] = sum
  end
  return result
end

local u, v = {}, nil
for i = 1, 500 do u[i] = 1.0 end
for _ = 1, 10 do
  v = transposedTimes(times(u))
  u = transposedTimes(times(v))
end
local uv, vv = 0.0, 0.0
for i = 1, #u do
  uv = uv + u[i] * v[i]
  vv = vv + v[i] * v[i]
end
print(string.format("%.9f", math.sqrt(uv / vv)))
