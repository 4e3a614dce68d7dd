-- Decides a request of one subject in one step: the part of the rule in decide.ts that changes the state, which must stay
-- the same. Instants and times are in milliseconds.
--
-- KEYS[1]  Where the state of the subject is.
-- ARGV     1 'count', or 'look' to bring in the seed and count nothing
--          2 the seed: what the caller knows of the subject; '' when it has sent it before
--          3 now; '' for this server's clock
--          4 for how long the state is kept at least
--          5 and 6 requests per minute and per day; 7 bans that began up to this instant are lifted
--          8 to 12, for subjects that can be banned: forgiveness, strikes, strikesWithin, decay, durations
--
-- Answers verdict, whether the ban begins with this request (1 or 0), now, and the new state; nil when the state is lost
-- and no seed was sent: then nothing was counted, and the caller has to ask again with one.

-- decide-script.ts puts SECOND, MINUTE, DAY, TOLERANCE and NUMBERS before this text: the lengths of time, by how much clocks
-- may differ, and the numbers of a state in the order in which packed-state.ts packs them. The strikes follow the numbers.
local PACKED = '^' .. string.rep('(%d+) ', #NUMBERS) .. '([%d,-]+)$'
-- Concatenation would write no more than 14 digits of a number.
local FORMAT = string.rep('%d ', #NUMBERS) .. '%s'

local function unpackState(text)
  local parts = { string.match(text or '', PACKED) }
  local instants = parts[#NUMBERS + 1]
  if not instants then return nil end
  local state = { strikes = {} }
  for i, name in ipairs(NUMBERS) do state[name] = tonumber(parts[i]) end
  if instants ~= '-' then
    for instant in string.gmatch(instants, '%d+') do table.insert(state.strikes, tonumber(instant)) end
  end
  return state
end

local function packState(state)
  local parts = {}
  for i, name in ipairs(NUMBERS) do parts[i] = state[name] end
  local instants = {}
  for i, instant in ipairs(state.strikes) do instants[i] = string.format('%d', instant) end
  parts[#NUMBERS + 1] = #instants > 0 and table.concat(instants, ',') or '-'
  return string.format(FORMAT, unpack(parts))
end

-- The rule of merge-states.ts, which must stay the same. Two views of one subject: of each window the later, of the same window the larger count; of bans the one that ends
-- later; what was told and the strikes from the view that saw the subject last.
local function merge(kept, seed)
  if not kept then return seed end
  if seed.minute > kept.minute then
    kept.minute, kept.minuteUsed = seed.minute, seed.minuteUsed
  elseif seed.minute == kept.minute then
    kept.minuteUsed = math.max(kept.minuteUsed, seed.minuteUsed)
  end
  if seed.day > kept.day then
    kept.day, kept.dayUsed, kept.dayRefused = seed.day, seed.dayUsed, seed.dayRefused
  elseif seed.day == kept.day then
    kept.dayUsed = math.max(kept.dayUsed, seed.dayUsed)
    kept.dayRefused = math.max(kept.dayRefused, seed.dayRefused)
  end
  if seed.bannedUntil > kept.bannedUntil then
    kept.bannedAt, kept.bannedUntil, kept.bans = seed.bannedAt, seed.bannedUntil, seed.bans
  end
  if seed.seenAt > kept.seenAt or seed.seenAt == kept.seenAt and #seed.strikes > #kept.strikes then
    kept.toldAt, kept.toldUntil, kept.strikes, kept.seenAt = seed.toldAt, seed.toldUntil, seed.strikes, seed.seenAt
  end
  return kept
end

-- A clock set back a little stays in the windows already begun. Those that begin too late to be credible were forgotten.
local function enterWindows(state, now)
  local minute = math.floor(now / MINUTE)
  if minute > state.minute then
    state.minute, state.minuteUsed = minute, 0
  end
  local day = math.floor(now / DAY)
  if day > state.day then
    state.day, state.dayUsed, state.dayRefused = day, 0, 0
  end
end

local function forgetBans(state)
  state.toldAt, state.bannedAt, state.bannedUntil, state.bans, state.strikes = 0, 0, 0, 0, {}
end

-- Forgets what was noted by a clock that ran ahead. Before two views are merged, or the one of that clock would win.
local function forgetFuture(state, now)
  if not state then return end
  local latest = now + TOLERANCE
  if state.minute * MINUTE > latest then state.minute, state.minuteUsed = 0, 0 end
  if state.day * DAY > latest then state.day, state.dayUsed, state.dayRefused = 0, 0, 0 end
  if state.bannedAt > latest then forgetBans(state) end
  if state.toldAt > latest then state.toldAt = 0 end
  if state.seenAt > latest then state.seenAt = 0 end
  local credible = {}
  for _, instant in ipairs(state.strikes) do
    if instant <= latest then table.insert(credible, instant) end
  end
  state.strikes = credible
end

local function beginBan(state, rules, now)
  if now >= state.bannedUntil + rules.decay then state.bans = 0 end
  local durations = {}
  for duration in string.gmatch(rules.durations, '%d+') do table.insert(durations, tonumber(duration)) end
  local duration = durations[math.min(state.bans + 1, #durations)]
  state.bans = state.bans + 1
  state.bannedAt = now
  -- To the whole second, because that is how it is told.
  state.bannedUntil = math.ceil((now + duration) / SECOND) * SECOND
  state.strikes = {}
end

-- When the window with the fewest requests remaining ends; of two that are equal the day.
local function endOfBindingWindow(state, limits)
  local minuteLeft = math.max(0, limits.perMinute - state.minuteUsed)
  local dayLeft = math.max(0, limits.perDay - state.dayUsed)
  if minuteLeft < dayLeft then return (state.minute + 1) * MINUTE end
  return (state.day + 1) * DAY
end

-- Takes down a refused request. Answers whether it is one too many: then the ban has begun.
local function strike(state, limits, rules, now)
  local windowEnd = endOfBindingWindow(state, limits)
  if state.toldAt == 0 or now >= state.toldUntil or windowEnd > state.toldUntil then
    state.toldAt, state.toldUntil = now, windowEnd
  end
  if now < state.toldAt + rules.forgiveness then return false end
  local recent = {}
  for _, instant in ipairs(state.strikes) do
    if instant > now - rules.strikesWithin then table.insert(recent, instant) end
  end
  table.insert(recent, now)
  state.strikes = recent
  if #recent < rules.strikes then return false end
  beginBan(state, rules, now)
  return true
end

local function advance(state, limits, bansLiftedAt, rules, now)
  enterWindows(state, now)
  state.seenAt = now
  local isLifted = bansLiftedAt >= state.bannedAt and bansLiftedAt <= now + TOLERANCE
  if state.bannedAt ~= 0 and isLifted then forgetBans(state) end
  if now < state.bannedUntil then
    state.dayRefused = state.dayRefused + 1
    return 'banned', 0
  end
  if state.minuteUsed < limits.perMinute and state.dayUsed < limits.perDay then
    state.minuteUsed = state.minuteUsed + 1
    state.dayUsed = state.dayUsed + 1
    state.toldAt = 0
    return 'admitted', 0
  end
  state.dayRefused = state.dayRefused + 1
  if rules and strike(state, limits, rules, now) then return 'banned', 1 end
  return 'refused', 0
end

local function timeHere()
  local time = redis.call('TIME')
  return tonumber(time[1]) * SECOND + math.floor(tonumber(time[2]) / 1000)
end

local kept = unpackState(redis.call('GET', KEYS[1]))
local seed = unpackState(ARGV[2])
local now = tonumber(ARGV[3]) or timeHere()
forgetFuture(kept, now)
forgetFuture(seed, now)
local state = seed and merge(kept, seed) or kept
if not state then return nil end

local decay = tonumber(ARGV[11])
local verdict, banBegins = '', 0
if ARGV[1] == 'count' then
  local limits = { perMinute = tonumber(ARGV[5]), perDay = tonumber(ARGV[6]) }
  local rules = decay and {
    forgiveness = tonumber(ARGV[8]),
    strikes = tonumber(ARGV[9]),
    strikesWithin = tonumber(ARGV[10]),
    decay = decay,
    durations = ARGV[12],
  }
  verdict, banBegins = advance(state, limits, tonumber(ARGV[7]), rules, now)
end

-- A ban matters until the next one would be the first again.
local keep = tonumber(ARGV[4])
if ARGV[1] == 'look' then keep = math.max(keep, redis.call('PTTL', KEYS[1])) end
if state.bannedUntil > 0 then keep = math.max(keep, state.bannedUntil - now + (decay or 0) + DAY) end
local packed = packState(state)
redis.call('SET', KEYS[1], packed, 'PX', keep)
return { verdict, banBegins, now, packed }
