import { type Connection, luaScript, type RedisLink } from '../redis/index.ts'
import type { Announcement, Ending } from './job-store.ts'
import type { JobState, LaneStats } from './queue.ts'

/** What an ended run leads to: over, again in so many milliseconds, or nothing because its lease had been lost. */
export type Verdict = { kind: 'over' } | { kind: 'again'; inMs: number } | { kind: 'lost' }

export type RunEnding = Pick<Ending, 'subject' | 'outcome' | 'nextMs' | 'error'>

/**
 * What BullMQ does not know of a subject: when it was asked for, under which token it runs, and how it ended before. One
 * hash per lane; an entry has
 *
 *   due    when to run next, by the clock of Redis; while it runs: it was added meanwhile
 *   token  set while it runs
 *   gone   it was removed while it runs
 *
 * A BullMQ job whose entry has neither `due` nor `token` was dealt with and is dropped; an entry with `due` and without a job
 * is put right by the next `add`. So the two need no common transaction.
 */
export function ledger(redis: RedisLink, connection: Connection) {
  const lanesKey = redis.key('lanes')
  const keysOf = (lane: string) => [redis.key('lane', lane, 'subjects'), redis.key('lane', lane, 'totals'), lanesKey]
  const call = (script: ReturnType<typeof luaScript>, lane: string, ...args: (string | number)[]) =>
    script(connection, keysOf(lane), [lane, ...args])

  return {
    /** Answers per job whether it waits for a later time than this, which must be told to BullMQ. */
    async note(lane: string, jobs: readonly Omit<Announcement, 'lane'>[]): Promise<boolean[]> {
      const answer = await call(NOTE, lane, ...jobs.flatMap(({ subject, delayMs }) => [subject, delayMs]))
      return listOf(answer).map((sooner) => sooner === 1)
    },

    /**
     * The failures in a row before this run; undefined when nothing is to be run. Lost: BullMQ's lock of the job is not held
     * with this token (any more).
     */
    async begin(lane: string, subject: string, token: string, lockKey: string): Promise<number | 'lost' | undefined> {
      const answer = Number(await BEGIN(connection, [...keysOf(lane), lockKey], [lane, subject, token]))
      if (answer === -2) return 'lost'
      return answer === -1 ? undefined : answer
    },

    async end(lane: string, token: string, { subject, outcome, nextMs, error }: RunEnding): Promise<Verdict> {
      const inMs = Number(await call(END, lane, subject, token, outcome, nextMs ?? '', error ?? ''))
      if (inMs === -2) return { kind: 'lost' }
      return inMs === -1 ? { kind: 'over' } : { kind: 'again', inMs }
    },

    /** The process that ran it is dead: it failed, and is due now. */
    async release(lane: string, subject: string): Promise<void> {
      await call(RELEASE, lane, subject)
    },

    /** In how many milliseconds the subject should run; undefined when it should not, or runs. */
    async dueInMs(lane: string, subject: string): Promise<number | undefined> {
      const inMs = Number(await call(DUE, lane, subject))
      return inMs < 0 ? undefined : inMs
    },

    async remove(lane: string, subject: string): Promise<void> {
      await call(REMOVE, lane, subject)
    },

    /** Answers how many subjects the lane had. */
    dropLane: async (lane: string): Promise<number> => Number(await call(DROP, lane)),

    /** Makes those of the subjects that wait for later due now and forgets their attempts; answers which. */
    async pardon(lane: string, subjects: readonly string[]): Promise<string[]> {
      return listOf(await call(PARDON, lane, ...subjects)).map(String)
    },

    async lanes(prefix: string): Promise<string[]> {
      if (prefix === '') return connection.zrangebylex(lanesKey, '-', '+')
      // By bytes; the end is beyond every text that begins so.
      const end = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.from([0xff])])
      return connection.zrangebylex(lanesKey, `[${prefix}`, end)
    },

    async counts(lane: string): Promise<Pick<LaneStats, 'completed' | 'failed' | 'subjects'>> {
      const [completed, failed, subjects] = listOf(await call(COUNTS, lane)).map(Number)
      return { completed: completed ?? 0, failed: failed ?? 0, subjects: subjects ?? 0 }
    },

    async find(lane: string, subject: string): Promise<JobState | undefined> {
      const [subjectsKey = ''] = keysOf(lane)
      const raw = await connection.hget(subjectsKey, subject)
      return raw === null ? undefined : stateOf(JSON.parse(raw))
    },
  }
}

export type Ledger = ReturnType<typeof ledger>

interface Entry {
  due?: number
  token?: string
  gone?: boolean
  attempts: number
  lastRunAt?: number
  lastError?: string
}

function stateOf(entry: Entry): JobState | undefined {
  if (entry.gone === true) return undefined
  return {
    state: entry.token !== undefined ? 'active' : entry.due !== undefined ? 'waiting' : 'idle',
    attempts: entry.attempts,
    lastRunAt: entry.lastRunAt ?? null,
    nextRunAt: entry.due ?? null,
    lastError: entry.lastError ?? null,
  }
}

const listOf = (answer: unknown): unknown[] => (Array.isArray(answer) ? answer : [])

/** Keys: the lane's subjects, its totals, all lanes. Arguments: the lane, then what the script says. */
const SHARED = `
local subjects, totals, lanes = KEYS[1], KEYS[2], KEYS[3]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function read(subject)
  local raw = redis.call('HGET', subjects, subject)
  return raw and cjson.decode(raw)
end
local function write(subject, entry) redis.call('HSET', subjects, subject, cjson.encode(entry)) end
local function count(name, by) redis.call('HINCRBY', totals, name, by) end
local function forget(subject, entry)
  if entry.gone then count('gone', -1) end
  redis.call('HDEL', subjects, subject)
  if redis.call('HLEN', subjects) == 0 then redis.call('ZREM', lanes, ARGV[1]) end
end
local function fail(entry, reason)
  entry.attempts = entry.attempts + 1
  entry.lastError = reason
  entry.lastRunAt = now
  count('failed', 1)
end`

const script = (lua: string) => luaScript(`${SHARED}\n${lua}`)

/** Pairs of subject and delay. */
const NOTE = script(`
local sooner = {}
for i = 2, #ARGV, 2 do
  local entry = read(ARGV[i]) or { attempts = 0 }
  local due = now + tonumber(ARGV[i + 1])
  sooner[#sooner + 1] = 0
  if entry.gone then
    count('gone', -1)
    entry.gone = nil
  end
  if not entry.due or due < entry.due then
    if entry.due and not entry.token then sooner[#sooner] = 1 end
    entry.due = due
    write(ARGV[i], entry)
  end
end
redis.call('ZADD', lanes, 0, ARGV[1])
return sooner`)

/**
 * Subject, token; a fourth key, the job's lock. A token that is still there belongs to a run that never ended. A job handed
 * out by a Redis that came back empty is locked no more, or by another: beginning it would take the run from whoever has
 * the new job, and leave that one locked with nobody at it until its lease ends.
 */
const BEGIN = script(`
if redis.call('GET', KEYS[4]) ~= ARGV[3] then return -2 end
local entry = read(ARGV[2])
if not entry or not (entry.due or entry.token) then return -1 end
if entry.gone then
  forget(ARGV[2], entry)
  return -1
end
if entry.token then fail(entry, 'The worker stopped answering in mid-run.') end
entry.token = ARGV[3]
entry.due = nil
write(ARGV[2], entry)
return entry.attempts`)

/** Subject, token, outcome, milliseconds or nothing, error. */
const END = script(`
local entry = read(ARGV[2])
if not entry or entry.token ~= ARGV[3] then return -2 end
local outcome, nextMs, reason = ARGV[4], ARGV[5], ARGV[6]
entry.token = nil
if outcome == 'failed' then
  fail(entry, reason)
else
  entry.lastRunAt = now
  if outcome == 'completed' then
    entry.attempts = 0
    entry.lastError = nil
    count('completed', 1)
  end
end
if entry.gone then
  forget(ARGV[2], entry)
  return -1
end
if nextMs ~= '' then
  local due = now + tonumber(nextMs)
  if outcome ~= 'completed' or not entry.due or due < entry.due then entry.due = due end
end
write(ARGV[2], entry)
return entry.due and math.max(0, entry.due - now) or -1`)

const RELEASE = script(`
local entry = read(ARGV[2])
if not entry or not entry.token then return end
fail(entry, 'The process of the worker ended in mid-run.')
if entry.gone then return forget(ARGV[2], entry) end
entry.token = nil
entry.due = now
write(ARGV[2], entry)`)

const DUE = script(`
local entry = read(ARGV[2])
if not entry or entry.token or not entry.due then return -1 end
return math.max(0, entry.due - now)`)

/** Forgotten by \`END\` while it runs. */
const REMOVE = script(`
local entry = read(ARGV[2])
if not entry then return end
if not entry.token then return forget(ARGV[2], entry) end
if not entry.gone then count('gone', 1) end
entry.gone = true
entry.due = nil
write(ARGV[2], entry)`)

const DROP = script(`
local known = redis.call('HLEN', subjects) - (redis.call('HGET', totals, 'gone') or 0)
redis.call('DEL', subjects, totals)
redis.call('ZREM', lanes, ARGV[1])
return known`)

const PARDON = script(`
local pardoned = {}
for i = 2, #ARGV do
  local entry = read(ARGV[i])
  if entry and entry.due and entry.due > now and not entry.token then
    entry.due = now
    entry.attempts = 0
    write(ARGV[i], entry)
    pardoned[#pardoned + 1] = ARGV[i]
  end
end
return pardoned`)

const COUNTS = script(`
local known = redis.call('HMGET', totals, 'completed', 'failed', 'gone')
return { known[1] or 0, known[2] or 0, redis.call('HLEN', subjects) - (known[3] or 0) }`)
