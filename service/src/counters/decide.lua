-- Decides requests one after the other: the part of the rule in decide.ts that changes the state, which must stay the same.
-- Instants and times are in milliseconds.
--
-- KEYS[i]  Where the state of the subject of request i is.
-- ARGV[i]  The request, as packQuestion of packed-state.ts packs it; fields separated by spaces:
--          'count', or 'look' to bring in the seed and count nothing
--          now; '-' for this server's clock
--          for how long the state is kept at least
--          the terms, as packTerms packs them; numbers separated by slashes: requests per minute and per day; bans that
--          began up to this instant are lifted; and, for subjects that can be banned, forgiveness, strikes, strikesWithin,
--          decay, and the durations, separated by commas
--          the seed: what the caller knows of the subject; '' when it has sent it before
--
-- Returns a text for each request: verdict ('-' for a look), whether the ban begins with it (1 or 0), now, and the new state,
-- separated by spaces; '' when the state is lost and no seed was sent: then nothing was counted, and the caller has to ask
-- again with one.

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
    kept.day, kept.dayUsed, kept.dayRejected = seed.day, seed.dayUsed, seed.dayRejected
  elseif seed.day == kept.day then
    kept.dayUsed = math.max(kept.dayUsed, seed.dayUsed)
    kept.dayRejected = math.max(kept.dayRejected, seed.dayRejected)
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
    state.day, state.dayUsed, state.dayRejected = day, 0, 0
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
  if state.day * DAY > latest then state.day, state.dayUsed, state.dayRejected = 0, 0, 0 end
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

-- Takes down a rejected request. Answers whether it is one too many: then the ban has begun.
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
    state.dayRejected = state.dayRejected + 1
    return 'banned', 0
  end
  if state.minuteUsed < limits.perMinute and state.dayUsed < limits.perDay then
    state.minuteUsed = state.minuteUsed + 1
    state.dayUsed = state.dayUsed + 1
    state.toldAt = 0
    return 'admitted', 0
  end
  state.dayRejected = state.dayRejected + 1
  if rules and strike(state, limits, rules, now) then return 'banned', 1 end
  return 'refused', 0
end

local function timeHere()
  local time = redis.call('TIME')
  return tonumber(time[1]) * SECOND + math.floor(tonumber(time[2]) / 1000)
end

local function unpackTerms(text)
  local values = {}
  for value in string.gmatch(text, '[^/]+') do table.insert(values, value) end
  local rules = values[4] and {
    forgiveness = tonumber(values[4]),
    strikes = tonumber(values[5]),
    strikesWithin = tonumber(values[6]),
    decay = tonumber(values[7]),
    durations = values[8],
  }
  return {
    limits = { perMinute = tonumber(values[1]), perDay = tonumber(values[2]) },
    bansLiftedAt = tonumber(values[3]),
    rules = rules,
  }
end

-- Most requests are decided under the same few terms.
local unpackedTerms = {}

local function termsOf(text)
  local terms = unpackedTerms[text] or unpackTerms(text)
  unpackedTerms[text] = terms
  return terms
end

local function answer(key, question)
  local what, at, atLeast, packedTerms, packedSeed = string.match(question, '^(%a+) (%S+) (%d+) (%S+) (.*)$')
  local kept = unpackState(redis.call('GET', key))
  local seed = unpackState(packedSeed)
  local now = tonumber(at) or timeHere()
  forgetFuture(kept, now)
  forgetFuture(seed, now)
  local state = seed and merge(kept, seed) or kept
  if not state then return '' end

  local terms = termsOf(packedTerms)
  local verdict, banBegins = '-', 0
  if what == 'count' then verdict, banBegins = advance(state, terms.limits, terms.bansLiftedAt, terms.rules, now) end

  -- A ban matters until the next one would be the first again.
  local keep = tonumber(atLeast)
  if what == 'look' then keep = math.max(keep, redis.call('PTTL', key)) end
  if state.bannedUntil > 0 then
    local decay = terms.rules and terms.rules.decay or 0
    keep = math.max(keep, state.bannedUntil - now + decay + DAY)
  end
  local packed = packState(state)
  redis.call('SET', key, packed, 'PX', keep)
  return string.format('%s %d %d %s', verdict, banBegins, now, packed)
end

local answers = {}
for i, key in ipairs(KEYS) do answers[i] = answer(key, ARGV[i]) end
return answers
