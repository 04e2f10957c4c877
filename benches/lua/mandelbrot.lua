-- Arithmetic: the numbers of iterations for the points of a square.

local function iterations(size)
  local total = 0
  for row = 0, size - 1 do
    for column = 0, size - 1 do
      local a, b = column / size * 3 - 2, row / size * 2 - 1
      local x, y, k = 0.0, 0.0, 0
      while k < 100 and x * x + y * y < 4 do
        x, y = x * x - y * y + a, 2 * x * y + b
        k = k + 1
      end
      total = total + k
    end
  end
  return total
end

print(iterations(1024))
