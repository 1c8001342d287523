import { sleep } from '../../platform/concurrency/abort.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { EncryptionKeys, Resealed } from '../../ui/generated/api-objects.ts'
import type { Command, Terminal } from '../command.ts'
import { JSON_OPTION, printJson } from '../json.ts'
import { progress } from '../progress.ts'
import { untilSignal } from '../until-signal.ts'
import { describeFailure, type RunningService, runningService, SERVICE_OPTIONS } from './running-service.ts'

/** The totals of one or more passes. */
type Progress = Pick<Resealed, 'checked' | 'resealed' | 'unreadable'>

const TIMEOUT_MS = 60_000
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
    await untilSignal(async (signal) => {
      const rotation = new Rotation(service, isJson ? { ...terminal, out: () => {} } : terminal, signal)
      if (args.options['new-key'] !== undefined) await rotation.newKey()
      const result = await rotation.reseal()
      if (isJson) printJson(terminal, result)
    })
  },
}

class Rotation {
  readonly #service: RunningService
  readonly #terminal: Terminal
  readonly #signal: AbortSignal

  constructor(service: RunningService, terminal: Terminal, signal: AbortSignal) {
    this.#service = service
    this.#terminal = terminal
    this.#signal = signal
  }

  /** Adds a key, waits until every instance opens with it, and makes it seal. */
  async newKey(): Promise<void> {
    const { keyId } = await this.#call<{ keyId: string }>('POST', '')
    this.#terminal.out(`Added the key ${keyId}.`)
    await this.#everywhere(`know the key ${keyId}`, (keyIds) => keyIds.includes(keyId))
    await this.#call('POST', '/promote', { keyId })
    await this.#everywhere(`seal with the key ${keyId}`, (keyIds) => keyIds[0] === keyId)
  }

  /** Passes over all secrets until one finds nothing to do. */
  async reseal(): Promise<{ keyId: string; checked: number; resealed: number }> {
    const { primaryKeyId } = await this.#call<EncryptionKeys>('GET', '')
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
      const body: object = after === undefined ? {} : { after }
      const { checked, resealed, unreadable, next } = await this.#call<Resealed>('POST', '/reseal', body)
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
      const { instances } = await this.#call<EncryptionKeys>('GET', '')
      const other = instances.find(({ keyIds }) => !has(keyIds))
      if (other === undefined) return
      if (systemClock.monotonic() > giveUpAt) {
        throw new Error(`The instance ${other.id} does not ${what}. Restart it, then run this again without --new-key.`)
      }
      await sleep(POLL_MS, this.#signal)
      this.#signal.throwIfAborted()
    }
  }

  async #call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    this.#signal.throwIfAborted()
    const { url, key } = this.#service
    const response = await fetch(`${url}/encryption-keys${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((error: unknown) => {
      this.#signal.throwIfAborted()
      throw new Error(`Cannot reach ${url} (${describeError(error)}). Check --url, and that the service is running.`)
    })
    if (!response.ok) throw new Error(await describeFailure(response))
    return JSON.parse(await response.text())
  }
}
