import { createHash } from 'node:crypto'
import { Queue as Bull, type Job, type JobsOptions } from 'bullmq'
import { withTimeout } from '../../lib/abort.ts'
import type { RedisLink } from '../redis/index.ts'
import type { Announcement } from './job-store.ts'
import type { Ledger } from './redis-ledger.ts'

/** All a job carries; what is to be done is told by rows. */
export interface JobData {
  subject: string
}

export interface JobRequest extends Omit<Announcement, 'lane'> {
  /** Failures in a row that this process counted while Redis was away. */
  attempts?: number
}

export type LaneRequest = JobRequest & Pick<Announcement, 'lane'>

/** Well beyond one command: a large batch on a busy server is not an absence. */
const LIMIT_MS = 10_000
const PAGE = 500
/** What passes between a note and a look at it. */
const MEANWHILE_MS = 50
/** BullMQ writes a stream of what happens, which nobody here reads. */
const MAX_EVENTS = 100

/**
 * The BullMQ side of the queue: one BullMQ queue per lane, one job per subject. Everything rejects at once while Redis is
 * away, and at the latest after 10 s.
 */
export class RedisJobs {
  readonly #redis: RedisLink
  readonly #ledger: Ledger
  readonly #lanes = new Map<string, Bull<JobData>>()

  constructor(redis: RedisLink, ledger: Ledger) {
    this.#redis = redis
    this.#ledger = ledger
  }

  /** Notes what is asked and sees to it that a job stands for each subject. No subject twice. */
  push(lane: string, requests: readonly JobRequest[]): Promise<void> {
    return this.#bounded(async () => {
      const sooner = await this.#ledger.note(lane, requests)
      await this.#add(lane, requests)
      const hastened = requests.filter((_request, index) => sooner[index])
      await Promise.all(hastened.map(({ subject, delayMs }) => this.#hasten(lane, subject, delayMs)))
    })
  }

  /**
   * Brings the job of a subject in line with what was noted, which may have changed while BullMQ was moving the job.
   * `expectedMs`: when it was told to run again; without, it was told to forget the job.
   */
  settle(lane: string, subject: string, expectedMs = Number.POSITIVE_INFINITY): Promise<void> {
    return this.#bounded(async () => {
      const inMs = await this.#ledger.dueInMs(lane, subject)
      if (inMs === undefined || expectedMs - inMs < MEANWHILE_MS) return
      await this.#add(lane, [{ subject, delayMs: inMs }])
      await this.#hasten(lane, subject, inMs)
    })
  }

  async #add(lane: string, requests: readonly JobRequest[]): Promise<void> {
    // What is there already, waiting or active, stays as it is.
    const jobs = requests.map(({ subject, delayMs }) => ({
      name: 'run',
      data: { subject },
      opts: { ...KEEP_NOTHING, jobId: jobId(subject), ...(delayMs > 0 && { delay: delayMs }) },
    }))
    await this.#bull(lane).addBulk(jobs)
  }

  async #hasten(lane: string, subject: string, delayMs: number): Promise<void> {
    const job = await this.#bull(lane).getJob(jobId(subject))
    if (job === undefined || job.delay <= delayMs) return
    try {
      await (delayMs > 0 ? job.changeDelay(delayMs) : job.promote())
    } catch {
      // It is waiting already, or running: then the note is looked at when the run ends.
    }
  }

  remove(lane: string, subject: string): Promise<void> {
    return this.#bounded(async () => {
      await this.#ledger.remove(lane, subject)
      await this.#bull(lane).remove(jobId(subject))
    })
  }

  dropLane(lane: string): Promise<number> {
    return this.#bounded(async () => {
      const known = await this.#ledger.dropLane(lane)
      const bull = this.#bull(lane)
      this.#lanes.delete(lane)
      await bull.obliterate({ force: true }).catch((error: unknown) => {
        // Another process was faster: then the lane is no longer paused, or nothing of it is left.
        if (!String(error).includes('Cannot obliterate')) throw error
      })
      await bull.close()
      return known
    })
  }

  clear(lane: string): Promise<number> {
    return this.#bounded(async () => {
      const delayed = await this.#delayed(lane)
      let cleared = 0
      for (let from = 0; from < delayed.length; from += PAGE) {
        const page = delayed.slice(from, from + PAGE)
        const subjects = page.map((job) => job.data.subject)
        const pardoned = new Set(await this.#ledger.pardon(lane, subjects))
        cleared += pardoned.size
        await Promise.all(subjects.filter((one) => pardoned.has(one)).map((one) => this.#hasten(lane, one, 0)))
      }
      return cleared
    })
  }

  async #delayed(lane: string): Promise<Job<JobData>[]> {
    const all: Job<JobData>[] = []
    for (let page = await this.#bull(lane).getDelayed(0, PAGE - 1); page.length > 0; ) {
      all.push(...page)
      page = page.length < PAGE ? [] : await this.#bull(lane).getDelayed(all.length, all.length + PAGE - 1)
    }
    return all
  }

  counts(lane: string): Promise<{ waiting: number; active: number; delayed: number; paused: boolean }> {
    return this.#bounded(async () => {
      const bull = this.#bull(lane)
      const [counts, paused] = await Promise.all([bull.getJobCounts('wait', 'active', 'delayed'), bull.isPaused()])
      return { waiting: counts.wait ?? 0, active: counts.active ?? 0, delayed: counts.delayed ?? 0, paused }
    })
  }

  setPaused(lane: string, paused: boolean): Promise<void> {
    return this.#bounded(() => (paused ? this.#bull(lane).pause() : this.#bull(lane).resume()))
  }

  /** Takes the jobs away from a process that is known to be dead. */
  releaseInstance(lane: string, instanceId: string): Promise<void> {
    return this.#bounded(async () => {
      const bull = this.#bull(lane)
      for (const job of await bull.getActive()) {
        if (job?.processedBy !== instanceId || job.id === undefined) continue
        await this.#ledger.release(lane, job.data.subject)
        await this.#redis.commands.del(`${bull.toKey(job.id)}:lock`)
        // "0" asks for no lock: there is none any more.
        await job.moveToWait('0')
      }
    })
  }

  async close(): Promise<void> {
    const lanes = [...this.#lanes.values()]
    this.#lanes.clear()
    await Promise.all(lanes.map((bull) => withTimeout(bull.close(), 1000, () => new Error('slow')).catch(() => {})))
  }

  #bull(lane: string): Bull<JobData> {
    let bull = this.#lanes.get(lane)
    if (bull === undefined) {
      bull = new Bull<JobData>(laneName(lane), {
        connection: this.#redis.commands,
        prefix: bullPrefix(this.#redis),
        skipVersionCheck: true,
        streams: { events: { maxLen: MAX_EVENTS } },
      })
      // The link says when Redis is away; the caller hears of every failure.
      bull.on('error', () => {})
      this.#lanes.set(lane, bull)
    }
    return bull
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#redis.commands.status !== 'ready') throw new Error('Redis is out of reach.')
    return withTimeout(work(), LIMIT_MS, () => new Error('Redis did not answer in time.'))
  }
}

const KEEP_NOTHING = { removeOnComplete: true, removeOnFail: true } satisfies JobsOptions

export const bullPrefix = (redis: RedisLink) => redis.key('bull')

/** BullMQ's names may not hold a colon. */
export const laneName = (lane: string) => encodeURIComponent(lane)

/** BullMQ's ids may be no integer and hold no colon. */
function jobId(subject: string): string {
  return `subject-${createHash('sha256').update(subject).digest('base64url').slice(0, 24)}`
}
