import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/app/feature-list.ts'
import { feedEvent, feedEventText } from '../../src/events/feed/api.ts'
import { closing } from '../kit/closing.ts'
import { describeEachDatabase } from '../kit/database/database.ts'
import { buildEvent, type EventType, sampleEvent, schemaErrors } from '../kit/events/events.ts'
import { webhookFixture } from '../kit/events/webhooks.ts'
import { eventually } from '../kit/eventually.ts'
import { LIBRARIES, startReceiver, verifyWith } from '../servers/receiver.ts'

const types = catalogue.types as EventType[]
const document = JSON.parse(await readFile('openapi.json', 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
ajv.addSchema({ $id: 'openapi.json', ...document })

/** The differences between the body of a webhook and its schema in the OpenAPI document. */
function publishedErrors(type: string, body: unknown): unknown[] {
  return differences(`/webhooks/${type}/post/requestBody/content/application~1json/schema`, body)
}

/** The differences between a value and the schema at a JSON pointer of the document. */
function differences(pointer: string, value: unknown): unknown[] {
  const check = ajv.getSchema(`openapi.json#${pointer}`)
  if (check === undefined) throw new Error(`The document has no ${pointer}.`)
  check(value)
  return check.errors ?? []
}

/** The names of those schemas of a union that accept a value, by the type that the discriminator gives each. */
function acceptingTypes(union: string, value: unknown): string[] {
  const { mapping } = document.components.schemas[union].discriminator
  const pointers = Object.entries<string>(mapping)
  return pointers.flatMap(([type, reference]) => (differences(reference.slice(1), value).length === 0 ? [type] : []))
}

describe('the event catalogue', () => {
  it('is complete in the OpenAPI document, which is valid', async () => {
    expect(Object.keys(document.webhooks)).toEqual([...catalogue.types])
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  it.each(types)('%s has a description, a valid example and no undocumented member', (type) => {
    const { post } = document.webhooks[type]
    expect(post.summary).toBe(type)
    expect(post.description).toMatch(/^[A-Z].*\.$/)
    expect(schemaErrors(type, sampleEvent(type).data)).toEqual([])
    const { value } = post.requestBody.content['application/json'].examples.sample
    expect(publishedErrors(type, value)).toEqual([])
    expect(value).toMatchObject(sampleEvent(type))
    expect(publishedErrors(type, { ...value, type: 'something.else' })).not.toEqual([])
    expect(publishedErrors(type, { ...value, data: {} })).not.toEqual([])
  })

  it.each([
    ['Event', 'Event'],
    ['WebhookEnvelope', 'Webhook'],
  ])('has one schema for each type in the union %s, named after it', (union, suffix) => {
    const { oneOf, discriminator } = document.components.schemas[union]
    expect(discriminator.propertyName).toBe('type')
    expect(Object.keys(discriminator.mapping)).toEqual([...catalogue.types])
    expect(oneOf.map(({ $ref }: { $ref: string }) => $ref)).toEqual(Object.values(discriminator.mapping))
    expect(discriminator.mapping['message.received']).toBe(`#/components/schemas/MessageReceived${suffix}`)
    for (const [type, reference] of Object.entries<string>(discriminator.mapping)) {
      const { properties, required } = document.components.schemas[reference.split('/').at(-1) ?? '']
      expect([type, properties.type.const, required]).toEqual([type, type, ['type', 'data']])
    }
  })

  it('rejects undeclared types and undocumented members', () => {
    expect(schemaErrors('message.vanished', {})).toEqual(['there is no event type "message.vanished"'])
    const { data } = sampleEvent('message.received')
    expect(schemaErrors('message.received', { ...data, password: 'x' })).toHaveLength(1)
    expect(schemaErrors('message.received', { ...data, from: { ...data.from, phone: '1' } })).not.toEqual([])
    expect(schemaErrors('message.received', { ...data, unread: 1 })).toHaveLength(1)
  })
})

describeEachDatabase('an event of every recorded type', (open) => {
  it('arrives as documented and verifies with both libraries', async () => {
    const receiver = closing(await startReceiver())
    const app = closing(webhookFixture(await open()))
    const { secret = '' } = await app.create({ url: receiver.url, eventTypes: ['*'] })
    await app.engine.start()
    await app.db.transaction((tx) =>
      app.recorder.record(
        tx,
        types.map((type) => buildEvent({ type })),
      ),
    )
    await eventually(() => expect(receiver.requests).toHaveLength(types.length))
    const seen: string[] = receiver.requests.map((request) => {
      const body = JSON.parse(request.body)
      for (const library of LIBRARIES) expect(verifyWith(library, secret, request)).toEqual(body)
      expect(publishedErrors(body.type, body)).toEqual([])
      expect(acceptingTypes('WebhookEnvelope', body)).toEqual([body.type])
      expect(differences('/components/schemas/WebhookEnvelope', body)).toEqual([])
      for (const { $ref } of document.webhooks[body.type].post.parameters) {
        expect(request.headers).toHaveProperty([$ref.split('/').at(-1)])
      }
      return body.type
    })
    expect(seen.sort()).toEqual([...catalogue.types].sort())
    const rows = await app.db.read.selectFrom('events').selectAll().execute()
    expect(rows).toHaveLength(types.length)
    for (const row of rows) {
      for (const event of [feedEvent(row), JSON.parse(feedEventText(row))]) {
        expect(acceptingTypes('Event', event)).toEqual([row.type])
        expect(differences('/components/schemas/Event', event)).toEqual([])
      }
    }
  })
})
