-- Decides requests one after the other. It repeats the part of decide.ts that changes the state: change both together.
-- Instants and times are in milliseconds.
--
-- KEYS[i]  The key of the state of the subject of request i.
-- ARGV[i]  The request, as packed by packCall of packed-state.ts; fields separated by spaces:
--          the number of requests that it counts as, 0 to check only whether there is room for one; 'look' to merge the
--          seed and decide nothing; or 'of' and a number to count one request for this subject and those of the next
--          calls, as many as the number states with this one, if all have room, and otherwise for none
--          now; '-' for this server's clock
--          the shortest time for which the state is stored
--          the terms, as packed by packTerms; numbers separated by slashes: requests per minute and per day; bans that
--          began up to this instant are lifted; and, for subjects that can be banned, forgiveness, strikes, strikesWithin,
--          decay, and the durations, separated by commas
--          the seed: the state of the subject in the calling replica; '' when the replica has sent it before
--
-- Returns a text for each request: the verdict ('-' for a look), whether the ban begins with it (1 or 0), now, and the new
-- state, separated by spaces; '' when the state is lost and no seed was sent: then nothing was counted, and the replica must
-- call again with a seed. For subjects that are decided together, all texts are '' when one state is lost.

-- decide-script.ts puts SECOND, MINUTE, DAY, TOLERANCE, BUSY_MINUTES, OF_MINUTES and NUMBERS before this text: the lengths of time,
-- the tolerated difference between clocks, the minutes that are used up before a key is busy, and of how many, and the names of the numbers of a state in the order of packed-state.ts. The strikes follow.
local PACKED = '^' .. string.rep('(%d+) ', #NUMBERS) .. '([%d,-]+)$'
-- Concatenation would write at most 14 digits of a number.
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

-- The bits of the full minutes as they are so many minutes later.
local function minutesLater(fullMinutes, minutes)
  if minutes >= OF_MINUTES then return 0 end
  return fullMinutes * 2 ^ minutes % 2 ^ OF_MINUTES
end

-- Merges two views of one subject, as merge-states.ts does: change both together. Takes the later of two windows, or the
-- larger count of the same window; the ban that ends later; and the strikes and the wait from the view that saw the subject
-- last.
local function merge(kept, seed)
  if not kept then return seed end
  local minute = math.max(kept.minute, seed.minute)
  kept.fullMinutes = bit.bor(
    minutesLater(kept.fullMinutes, minute - kept.minute), minutesLater(seed.fullMinutes, minute - seed.minute))
  if seed.busyMinute > kept.busyMinute then
    kept.busyMinute, kept.busyLimit = seed.busyMinute, seed.busyLimit
  elseif seed.busyMinute == kept.busyMinute then
    kept.busyLimit = math.max(kept.busyLimit, seed.busyLimit)
  end
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
    kept.rejectedAt, kept.waitUntil, kept.strikes, kept.seenAt = seed.rejectedAt, seed.waitUntil, seed.strikes, seed.seenAt
  end
  return kept
end

-- When a clock is set back a little, the current windows continue. Windows too far in the future were removed before.
local function enterWindows(state, now)
  local minute = math.floor(now / MINUTE)
  if minute > state.minute then
    state.fullMinutes = minutesLater(state.fullMinutes, minute - state.minute)
    state.minute, state.minuteUsed = minute, 0
  end
  local day = math.floor(now / DAY)
  if day > state.day then
    state.day, state.dayUsed, state.dayRejected = day, 0, 0
  end
end

local function forgetBans(state)
  state.rejectedAt, state.bannedAt, state.bannedUntil, state.bans, state.strikes = 0, 0, 0, 0, {}
end

-- Removes what a clock that ran ahead has recorded. Runs before a merge, in which the later state would win.
local function forgetFuture(state, now)
  if not state then return end
  local latest = now + TOLERANCE
  if state.minute * MINUTE > latest then state.minute, state.minuteUsed, state.fullMinutes = 0, 0, 0 end
  if state.busyMinute * MINUTE > latest then state.busyMinute, state.busyLimit = 0, 0 end
  if state.day * DAY > latest then state.day, state.dayUsed, state.dayRejected = 0, 0, 0 end
  if state.bannedAt > latest then forgetBans(state) end
  if state.rejectedAt > latest then state.rejectedAt = 0 end
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
  -- Rounded down to whole seconds, the unit of the headers: `Retry-After` never exceeds the duration.
  state.bannedUntil = math.floor((now + duration) / SECOND) * SECOND
  state.strikes = {}
end

-- Whether both windows have room for this number of requests.
local function hasRoom(state, limits, cost)
  return state.minuteUsed + cost <= limits.perMinute and state.dayUsed + cost <= limits.perDay
end

-- The end of the window with the fewest requests remaining; of the day when both have the same number.
local function endOfBindingWindow(state, limits)
  local minuteLeft = math.max(0, limits.perMinute - state.minuteUsed)
  local dayLeft = math.max(0, limits.perDay - state.dayUsed)
  if minuteLeft < dayLeft then return (state.minute + 1) * MINUTE end
  return (state.day + 1) * DAY
end

-- Records a rejected request. Returns whether it was one strike too many, so that a ban began.
local function strike(state, limits, rules, now)
  if hasRoom(state, limits, 1) then
    local last = state.strikes[#state.strikes]
    if last and now < last + rules.forgiveness then return false end
  else
    local windowEnd = endOfBindingWindow(state, limits)
    if state.rejectedAt == 0 or now >= state.waitUntil or windowEnd > state.waitUntil then
      state.rejectedAt, state.waitUntil = now, windowEnd
    end
    if now < state.rejectedAt + rules.forgiveness then return false end
  end
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

local function enter(state, bansLiftedAt, now)
  enterWindows(state, now)
  state.seenAt = now
  local isLifted = bansLiftedAt >= state.bannedAt and bansLiftedAt <= now + TOLERANCE
  if state.bannedAt ~= 0 and isLifted then forgetBans(state) end
end

local function noteFullMinute(state, limit)
  state.fullMinutes = bit.bor(state.fullMinutes, 1)
  local full, bits = 0, state.fullMinutes
  while bits > 0 do
    full = full + bits % 2
    bits = math.floor(bits / 2)
  end
  if full >= BUSY_MINUTES then state.busyMinute, state.busyLimit = state.minute, limit end
end

local function count(state, limits, cost)
  state.minuteUsed, state.dayUsed, state.rejectedAt = state.minuteUsed + cost, state.dayUsed + cost, 0
  if state.minuteUsed >= limits.perMinute then noteFullMinute(state, limits.perMinute) end
end

local function advance(state, terms, now, cost)
  enter(state, terms.bansLiftedAt, now)
  if now < state.bannedUntil then
    state.dayRejected = state.dayRejected + 1
    return 'banned', 0
  end
  if hasRoom(state, terms.limits, math.max(cost, 1)) then
    if cost > 0 then count(state, terms.limits, cost) end
    return 'admitted', 0
  end
  state.dayRejected = state.dayRejected + 1
  if terms.rules and strike(state, terms.limits, terms.rules, now) then return 'banned', 1 end
  return 'refused', 0
end

-- Decides a request of several subjects that are never banned. It repeats decide-visit.ts: change both together.
local function advanceAll(subjects, now)
  local isAdmitted = true
  for _, subject in ipairs(subjects) do
    enter(subject.state, subject.terms.bansLiftedAt, now)
    isAdmitted = isAdmitted and hasRoom(subject.state, subject.terms.limits, 1)
  end
  for _, subject in ipairs(subjects) do
    local state = subject.state
    if isAdmitted then count(state, subject.terms.limits, 1) else state.dayRejected = state.dayRejected + 1 end
  end
  return isAdmitted and 'admitted' or 'refused'
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

-- A cache, because few different terms apply to most requests.
local unpackedTerms = {}

local function termsOf(text)
  local terms = unpackedTerms[text] or unpackTerms(text)
  unpackedTerms[text] = terms
  return terms
end

-- Returns the state of a subject (nil when it is lost), its terms, the instant of the decision, and the rest of the call.
-- 'at' is the instant of a decision that other subjects share; nil for the first.
local function open(key, call, at)
  local what, sentAt, atLeast, packedTerms, packedSeed = string.match(call, '^(%w+) (%S+) (%d+) (%S+) (.*)$')
  local kept = unpackState(redis.call('GET', key))
  local seed = unpackState(packedSeed)
  local now = at or tonumber(sentAt) or timeHere()
  forgetFuture(kept, now)
  forgetFuture(seed, now)
  return seed and merge(kept, seed) or kept, termsOf(packedTerms), now, what, atLeast
end

-- Stores the state of a subject. Returns the result of its call.
local function store(key, state, terms, now, what, atLeast, verdict, banBegins)
  -- A ban matters for the length of the next one until it has decayed.
  local ttl = tonumber(atLeast)
  if what == 'look' then ttl = math.max(ttl, redis.call('PTTL', key)) end
  if state.bannedUntil > 0 then
    local decay = terms.rules and terms.rules.decay or 0
    ttl = math.max(ttl, state.bannedUntil - now + decay + DAY)
  end
  local packed = packState(state)
  redis.call('SET', key, packed, 'PX', ttl)
  return string.format('%s %d %d %s', verdict, banBegins, now, packed)
end

local function run(key, call)
  local state, terms, now, what, atLeast = open(key, call)
  if not state then return '' end
  local verdict, banBegins = '-', 0
  local cost = tonumber(what)
  if cost then verdict, banBegins = advance(state, terms, now, cost) end
  return store(key, state, terms, now, what, atLeast, verdict, banBegins)
end

-- Decides the group of calls that starts at 'first', and adds their results.
local function runTogether(first, size, results)
  local subjects, at, isLost = {}, nil, false
  for i = first, first + size - 1 do
    local state, terms, now, what, atLeast = open(KEYS[i], ARGV[i], at)
    at = now
    isLost = isLost or not state
    table.insert(subjects, { state = state, terms = terms, what = what, atLeast = atLeast })
  end
  local verdict = not isLost and advanceAll(subjects, at)
  for i, subject in ipairs(subjects) do
    local index = first + i - 1
    results[index] = isLost and ''
      or store(KEYS[index], subject.state, subject.terms, at, subject.what, subject.atLeast, verdict, 0)
  end
end

local byte = string.byte
local TOGETHER = byte('of')

local results = {}
for i, key in ipairs(KEYS) do
  local call = ARGV[i]
  if byte(call) == TOGETHER then
    runTogether(i, tonumber(string.match(call, '^of(%d)')), results)
  elseif not results[i] then
    results[i] = run(key, call)
  end
end
return results
