import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, type EventType, sampleEvent } from '../../src/events/index.ts'
import { closing } from '../kit/closing.ts'
import { describeEachDatabase } from '../kit/database.ts'
import { eventOf, faultsOf } from '../kit/events.ts'
import { eventually } from '../kit/eventually.ts'
import { webhookHouse } from '../kit/webhooks.ts'
import { LIBRARIES, startReceiver, verifyWith } from '../servers/receiver.ts'

const document = JSON.parse(await readFile('openapi.json', 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
ajv.addSchema({ $id: 'openapi.json', ...document })

/** What the document says of the body of a webhook. */
function publishedFaults(type: string, body: unknown): unknown[] {
  const check = ajv.getSchema(`openapi.json#/webhooks/${type}/post/requestBody/content/application~1json/schema`)
  if (check === undefined) throw new Error(`the document has no webhook ${type}`)
  check(body)
  return check.errors ?? []
}

describe('the catalogue of events', () => {
  it('is whole in the OpenAPI document, which is valid', async () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES])
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  it.each(EVENT_TYPES)('%s has a sentence, an example that its schema accepts, and nothing undocumented', (type) => {
    const { post } = document.webhooks[type]
    expect(post.summary).toMatch(/^[A-Z].*\.$/)
    expect(faultsOf(type, sampleEvent(type).data)).toEqual([])
    const { value } = post.requestBody.content['application/json'].examples.sample
    expect(publishedFaults(type, value)).toEqual([])
    expect(value).toMatchObject(sampleEvent(type))
    expect(publishedFaults(type, { ...value, type: 'something.else' })).not.toEqual([])
    expect(publishedFaults(type, { ...value, data: {} })).not.toEqual([])
  })

  it('knows neither a type it does not list nor a member it does not name', () => {
    expect(faultsOf('message.vanished', {})).toEqual(['there is no event type "message.vanished"'])
    const { data } = sampleEvent('message.received')
    expect(faultsOf('message.received', { ...data, password: 'x' })).toHaveLength(1)
    expect(faultsOf('message.received', { ...data, from: { ...data.from, phone: '1' } })).not.toEqual([])
    expect(faultsOf('message.received', { ...data, unread: 1 })).toHaveLength(1)
  })
})

describeEachDatabase('an event of every type', (open) => {
  it('arrives as the document says and verifies with both libraries', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    const { secret = '' } = await house.create({ url: receiver.url, eventTypes: ['*'] })
    await house.engine.start()
    await house.db.transaction((tx) =>
      house.recorder.record(
        tx,
        EVENT_TYPES.map((type) => eventOf({ type })),
      ),
    )
    await eventually(() => expect(receiver.requests).toHaveLength(EVENT_TYPES.length))
    const seen: EventType[] = receiver.requests.map((request) => {
      const body = JSON.parse(request.body)
      for (const library of LIBRARIES) expect(verifyWith(library, secret, request)).toEqual(body)
      expect(publishedFaults(body.type, body)).toEqual([])
      for (const { $ref } of document.webhooks[body.type].post.parameters) {
        expect(request.headers).toHaveProperty([$ref.split('/').at(-1)])
      }
      return body.type
    })
    expect(seen.sort()).toEqual([...EVENT_TYPES].sort())
  })
})
