import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSubscription } from '../events/webhooks/index.ts'
import { catalogue } from './feature-list.ts'

/** The code that records events: everything but tests and the declarations themselves. */
const code = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/\.test\.ts$|(^|\/)events\.ts$|^demo\//.test(path))
  .map((path) => readFileSync(join('src', path), 'utf8'))
  .join('\n')

describe('the event catalogue', () => {
  it('lists the types that the service records, and no others', () => {
    expect(catalogue.types.filter((type) => !code.includes(`'${type}'`))).toEqual([])
    expect(catalogue.types).toContain('message.received')
    expect(catalogue.types).toContain('booking.created')
    expect(catalogue.types).toContain('sync.backfill_started')
  })

  it('is what the documentation lists', () => {
    const events = readFileSync('docs/events.md', 'utf8')
    const { webhooks, components } = JSON.parse(readFileSync('openapi.json', 'utf8'))
    expect(Object.keys(webhooks)).toEqual(catalogue.types)
    expect(Object.keys(components.schemas.Event.discriminator.mapping)).toEqual(catalogue.types)
    for (const type of catalogue.types) expect(events).toContain(`\`${type}\``)
  })

  it('lets endpoints subscribe to types, prefixes and all types', () => {
    for (const text of ['sync.backfill_started', 'sync.*', 'message.received', '*']) {
      expect([text, isSubscription(text, catalogue)]).toEqual([text, true])
    }
    expect(isSubscription('sync.eaten', catalogue)).toBe(false)
  })
})
