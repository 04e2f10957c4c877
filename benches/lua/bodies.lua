-- The sun and the four giant planets: tables in a table, modified in place.

local year = 365.24
local sunMass = 4 * math.pi * math.pi

local function body(x, y, z, vx, vy, vz, mass)
  return { x = x, y = y, z = z, vx = vx * year, vy = vy * year, vz = vz * year, mass = mass * sunMass }
end

local bodies = {
  body(0, 0, 0, 0, 0, 0, 1),
  body(4.84143144246472090, -1.16032004402742839, -0.103622044471123109,
    0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609),
  body(8.34336671824457987, 4.12479856412430479, -0.403523417114321381,
    -0.00276742510726411054, 0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812),
  body(12.8943695621391310, -15.1111514016986312, -0.223307578892655734,
    0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556, 0.0000436624404335156298),
  body(15.3796971148509165, -25.9193146099879641, 0.179258772950371181,
    0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870, 0.0000515138902046611451),
}

local sqrt = math.sqrt

local function advance(bodies, time)
  local count = #bodies
  for i = 1, count do
    local a = bodies[i]
    for j = i + 1, count do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = time / (square * sqrt(square))
      local mine, other = a.mass * pull, b.mass * pull
      a.vx = a.vx - dx * other
      a.vy = a.vy - dy * other
      a.vz = a.vz - dz * other
      b.vx = b.vx + dx * mine
      b.vy = b.vy + dy * mine
      b.vz = b.vz + dz * mine
    end
  end
  for i = 1, count do
    local a = bodies[i]
    a.x = a.x + time * a.vx
    a.y = a.y + time * a.vy
    a.z = a.z + time * a.vz
  end
end

for _ = 1, 1000000 do advance(bodies, 0.01) end
print(string.format("%.9f", bodies[2].x))
