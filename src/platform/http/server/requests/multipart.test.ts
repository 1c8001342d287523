import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import * as Type from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { api } from '../../../../../test/kit/http/http.ts'
import { testServer } from '../../../../../test/kit/http/server.ts'
import { random } from '../../../../../test/kit/random/random.ts'
import { ATTACHMENT_BODY_LIMIT } from '../../index.ts'

const MB = 1024 * 1024

/** A route that returns what it received, and one for JSON only. */
async function listen() {
  const app = testServer()
  onTestFinished(() => app.close())
  const config = { access: 'key:write', maxFileBytes: 3 * MB } as const
  const body = Type.Object({ subject: Type.String() })
  app.post('/upload', { config, bodyLimit: 4 * MB, schema: { body } }, async (request) => ({
    body: request.body,
    files: request.files?.map(({ content, ...file }) => ({
      ...file,
      size: content.length,
      isIntact: createHash('sha256').update(content).digest('base64url') === file.hash,
    })),
  }))
  app.post('/json', { config: { access: 'key:write' }, bodyLimit: ATTACHMENT_BODY_LIMIT }, async () => ({}))
  const client = api(await app.listen({ port: 0, host: '127.0.0.1' }), 'good')
  const send = async (text: string | Buffer, type = 'multipart/form-data; boundary=b') => {
    const headers = { authorization: 'Bearer good', 'content-type': type }
    const response = await fetch(`${client.url}/upload`, { method: 'POST', headers, body: text })
    return { status: response.status, json: JSON.parse(await response.text()) }
  }
  return { client, send }
}

const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (name: string, more = '', content = 'x') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\n${more}\r\n${content}\r\n`
const MESSAGE = field('message', '{"subject":"s"}')
const END = '--b--\r\n'

describe('a multipart body', () => {
  it.each([
    ['with files', MESSAGE + file('a'), 200],
    ['without a part', '', 400],
  ])('%s may be followed by more bytes', async (_what, parts, status) => {
    const { send } = await listen()
    const more = `${END}${'\r\n--b'.repeat(20_000)}`
    expect((await send(parts + more)).status).toBe(status)
  })

  it('has its JSON in one part, and files in the others', async () => {
    const { client } = await listen()
    const bytes = Buffer.from(Array.from({ length: 2 * MB }, (_, i) => (i * 31) % 256))
    for (const name of ['message', 'body']) {
      const form = new FormData()
      form.append('a', new Blob([bytes], { type: 'image/png' }), 'größe (1).png')
      form.append(
        name,
        name === 'body' ? new Blob(['{"subject":"ß"}'], { type: 'application/json' }) : '{"subject":"ß"}',
      )
      form.append('a', new Blob([''], { type: 'text/plain' }), 'empty.txt')
      form.append('raw', new Blob(['\r\n--x\r\n']))
      const { status, json } = await client.post('/upload', form)
      expect(status).toBe(200)
      expect(json.body).toEqual({ subject: 'ß' })
      expect(json.files).toMatchObject([
        { part: 'a', filename: 'größe (1).png', contentType: 'image/png', size: 2 * MB, isIntact: true },
        { part: 'a', filename: 'empty.txt', contentType: 'text/plain', size: 0, isIntact: true },
        { part: 'raw', contentType: 'application/octet-stream', size: 7, isIntact: true },
      ])
    }
  })

  it.each([
    ['no JSON', file('a') + END, 'body.message'],
    ['two parts with JSON', MESSAGE + field('body', '{}') + END, 'body.body'],
    ['a field beside the JSON', MESSAGE + field('to', 'a@x.example') + END, 'body.to'],
    ['a part without a name', `${MESSAGE}--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n${END}`, 'body'],
    ['a part without a name or end', `${MESSAGE}--b\r\nContent-Disposition: form-data\r\n\r\nx`, 'body'],
    ['an encoded part', MESSAGE + file('logo', 'Content-Transfer-Encoding: base64\r\n') + END, 'body.logo'],
    ['a part that ends early', `${MESSAGE}${file('logo')}`, 'body.logo'],
    ['headers that end early', `${MESSAGE}--b\r\nContent-Disposition: form-data; name="x"`, 'body.message'],
    ['no parts', END, 'body.message'],
    ['nothing', '', 'body'],
    ['no boundary in it', 'x'.repeat(5000), 'body'],
    ['101 files', MESSAGE + file('a').repeat(101) + END, 'body'],
    ['a member that the schema refuses', field('message', '{"subject":1}') + END, 'body.subject'],
    [
      'files that are too large',
      MESSAGE + file('a', '', 'x'.repeat(MB)) + file('big', '', 'x'.repeat(2 * MB + 1)) + END,
      'body.big',
    ],
  ])('with %s names what is wrong', async (_what, text, path) => {
    const { send } = await listen()
    const { status, json } = await send(text)
    expect([status, json.error.code, json.error.details[0]?.path]).toEqual([400, 'validation_failed', path])
  })

  it('is refused when it is too large, has bad JSON or no boundary, and where no files go', async () => {
    const { client, send } = await listen()
    expect(await send(field('message', ' '.repeat(4 * MB)) + END)).toMatchObject({ status: 413 })
    expect(await send(field('message', '{') + END)).toMatchObject({
      status: 400,
      json: { error: { code: 'malformed_json' } },
    })
    expect(await send(field('message', '['.repeat(200)) + END)).toMatchObject({
      json: { error: { code: 'malformed_json' } },
    })
    expect(await send(MESSAGE + END, 'multipart/form-data')).toMatchObject({ status: 400 })
    expect(await send(MESSAGE + END, 'multipart/mixed; boundary=b')).toMatchObject({ status: 415 })
    const form = new FormData()
    form.set('message', '{}')
    expect((await client.post('/json', form)).status).toBe(415)
  })

  it('gets a response, whatever bytes it has and wherever it ends', async () => {
    const { send } = await listen()
    const whole = MESSAGE + file('a', 'Content-Type: image/png\r\n', 'x'.repeat(300)) + file('b') + END
    const next = random()
    for (let count = 0; count < 60; count += 1) {
      const bytes = Buffer.from(whole)
      for (let changes = 0; changes < count % 4; changes += 1)
        bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256)
      const { status } = await send(bytes.subarray(0, count % 3 === 0 ? Math.floor(next() * bytes.length) : undefined))
      expect([200, 400]).toContain(status)
    }
  })

  it('ends with its connection', async () => {
    const { client } = await listen()
    const { port } = new URL(client.url)
    await new Promise<void>((resolve) => {
      const head = ['POST /upload HTTP/1.1', 'host: a', 'authorization: Bearer good', 'content-length: 9000']
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `${[...head, 'content-type: multipart/form-data; boundary=b'].join('\r\n')}\r\n\r\n${MESSAGE}${file('a')}`,
        )
        socket.end()
      })
      socket.resume().on('close', () => resolve())
    })
    expect((await client.post('/upload', undefined)).status).toBe(400)
  })
})
