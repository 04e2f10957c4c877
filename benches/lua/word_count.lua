-- Counts the words of a long text, which it reads letter by letter, and prints the most frequent ones.

local verse = "Whoever walks by the river hears the water and the wind in the reeds while the mill turns and turns "
  .. "and the miller counts his sacks of flour one by one until the sun goes down behind the hill and the "
  .. "river carries the light away to the sea where the boats of the town wait for the wind and the tide, "

local pieces = {}
for i = 1, 12000 do pieces[i] = verse .. "verse " .. i % 97 .. ". " end
local text = table.concat(pieces)

local counts, total, word = {}, 0, ""
for character in string.gmatch(text, ".") do
  if string.find(character, "%a") then
    word = word .. character
  elseif word ~= "" then
    counts[word] = (counts[word] or 0) + 1
    total = total + 1
    word = ""
  end
end

local words = {}
for word in pairs(counts) do words[#words + 1] = word end
table.sort(words, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)
print(total, #words)
for i = 1, 10 do print(words[i], counts[words[i]]) end
