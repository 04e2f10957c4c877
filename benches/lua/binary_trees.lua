-- Builds, walks and drops complete binary trees of objects with methods.

local Node = {}
Node.__index = Node

function Node.new(left, right)
  return setmetatable({ left = left, right = right }, Node)
end

function Node:count()
  if not self.left then return 1 end
  return 1 + self.left:count() + self.right:count()
end

local function tree(depth)
  if depth == 0 then return Node.new() end
  return Node.new(tree(depth - 1), tree(depth - 1))
end

local deepest = 15
print("stretched: " .. tree(deepest + 1):count())
local kept = tree(deepest)
for depth = 4, deepest, 4 do
  local rounds = 1 << (deepest - depth + 4)
  local total = 0
  for _ = 1, rounds do total = total + tree(depth):count() end
  print(rounds .. " trees of depth " .. depth .. ": " .. total)
end
print("kept: " .. kept:count())
