import type { Posthorn, Resealed } from '@posthorn/sdk'
import { sleep } from '../../platform/concurrency/abort.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Command, Terminal } from '../command.ts'
import { JSON_OPTION, printJson } from '../json.ts'
import { progress } from '../progress.ts'
import { untilSignal } from '../until-signal.ts'
import { explainStatus } from './failures.ts'
import { openClient, runningService, SERVICE_OPTIONS } from './running-service.ts'

/** The totals of one or more passes. */
type Progress = Pick<Resealed, 'checked' | 'resealed' | 'unreadable'>

/** Instances read changed keys every five seconds. */
const SPREAD_MS = 60_000
const POLL_MS = 500
/** Between two calls, so that the service has time for its work. */
const PAUSE_MS = 20
/** Other programs seal with the same key, so the second pass finds nothing unless an instance was slow. */
const MAX_PASSES = 10

/** Drives the rotation over the API of the running service. Every step may be repeated, so that a killed command is run again. */
export const rotateEncryptionCommand: Command = {
  summary: 'seal all stored secrets again with the current encryption key, while the service runs',
  options: {
    'new-key': { about: 'make a new key first; only without ENCRYPTION_KEYS' },
    ...JSON_OPTION,
    ...SERVICE_OPTIONS,
  },
  examples: ['posthorn rotate-encryption', 'posthorn rotate-encryption --new-key'],
  async run(terminal, args) {
    const service = runningService(args)
    const isJson = args.options.json !== undefined
    const posthorn = await openClient(service)
    await untilSignal(async (signal) => {
      const rotation = new Rotation(posthorn, isJson ? { ...terminal, out: () => {} } : terminal, signal)
      if (args.options['new-key'] !== undefined) await rotation.newKey()
      const result = await rotation.reseal()
      if (isJson) printJson(terminal, result)
    }).catch(async (error: unknown) => {
      throw await explainStatus(error, service.url)
    })
  },
}

class Rotation {
  readonly #keys: Posthorn['encryptionKeys']
  readonly #terminal: Terminal
  readonly #signal: AbortSignal

  constructor({ encryptionKeys }: Posthorn, terminal: Terminal, signal: AbortSignal) {
    this.#keys = encryptionKeys
    this.#terminal = terminal
    this.#signal = signal
  }

  /** Adds a key, waits until every instance opens with it, and makes it seal. */
  async newKey(): Promise<void> {
    const { keyId } = await this.#keys.create({ signal: this.#signal })
    this.#terminal.out(`Added the key ${keyId}.`)
    await this.#everywhere(`know the key ${keyId}`, (keyIds) => keyIds.includes(keyId))
    await this.#keys.promote({ keyId }, { signal: this.#signal })
    await this.#everywhere(`seal with the key ${keyId}`, (keyIds) => keyIds[0] === keyId)
  }

  /** Passes over all secrets until one finds nothing to do. */
  async reseal(): Promise<{ keyId: string; checked: number; resealed: number }> {
    const { primaryKeyId } = await this.#keys.list({ signal: this.#signal })
    const shown = progress(this.#terminal)
    let total = 0
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      const { checked, resealed, unreadable } = await this.#pass((done) => {
        shown.update(`pass ${pass}: ${done.checked} secrets checked, ${total + done.resealed} sealed again`)
      }).finally(shown.end)
      total += resealed
      const [first] = unreadable
      if (first !== undefined) {
        throw new Error(
          `${unreadable.length} secrets are sealed with a key that is missing, such as ${first.table} ${first.id} with the key "${first.keyId}".\nAdd that key to ENCRYPTION_KEYS, after the others, or connect these accounts again. All other secrets have the key ${primaryKeyId}.`,
        )
      }
      if (resealed > 0) continue
      this.#terminal.out(`Sealed ${total} secrets again. All ${checked} secrets have the key ${primaryKeyId}.`)
      return { keyId: primaryKeyId, checked, resealed: total }
    }
    throw new Error(
      'Secrets are still being sealed with another key. Give all instances the same keys and run this again.',
    )
  }

  async #pass(onProgress: (done: Progress) => void): Promise<Progress> {
    const done: Progress = { checked: 0, resealed: 0, unreadable: [] }
    for (let after: string | null | undefined; after !== null; ) {
      const body = after === undefined ? {} : { after }
      const { checked, resealed, unreadable, next } = await this.#keys.reseal(body, { signal: this.#signal })
      done.checked += checked
      done.resealed += resealed
      done.unreadable.push(...unreadable)
      onProgress(done)
      after = next
      await sleep(PAUSE_MS, this.#signal)
    }
    return done
  }

  async #everywhere(what: string, has: (keyIds: string[]) => boolean): Promise<void> {
    const giveUpAt = systemClock.monotonic() + SPREAD_MS
    for (;;) {
      const { instances } = await this.#keys.list({ signal: this.#signal })
      const other = instances.find(({ keyIds }) => !has(keyIds))
      if (other === undefined) return
      if (systemClock.monotonic() > giveUpAt) {
        throw new Error(`The instance ${other.id} does not ${what}. Restart it, then run this again without --new-key.`)
      }
      await sleep(POLL_MS, this.#signal)
      this.#signal.throwIfAborted()
    }
  }
}
