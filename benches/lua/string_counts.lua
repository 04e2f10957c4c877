-- Counts 100,000 strings in a table, sorts its keys and joins them.

local counts = {}
for i = 1, 100000 do
  local key = "key" .. (i * 7919 % 5000)
  counts[key] = (counts[key] or 0) + 1
end
local keys = {}
for key in pairs(counts) do keys[#keys + 1] = key end
table.sort(keys)
local joined = table.concat(keys, ",")
print(#keys, #joined, joined:sub(1, 20))
