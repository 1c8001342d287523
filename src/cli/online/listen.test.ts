import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { startService } from '../../../test/kit/service/service.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'
import { cli } from '../cli.ts'

interface Running {
  child: ChildProcess
  out: string
  error: string
}

/** Runs the built command in its own process, for tests that end it with a signal. */
function listen(args: string[], home = tmpdir()): Running {
  const entry = new URL('../../../dist/posthorn.js', import.meta.url).pathname
  const child = spawn(process.execPath, [entry, 'listen', ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const running = { child, out: '', error: '' }
  child.stdout.on('data', (part) => {
    running.out += part
  })
  child.stderr.on('data', (part) => {
    running.error += part
  })
  closing({ close: async () => void child.kill('SIGKILL') })
  return running
}

/** The command in this process. */
async function posthorn(...args: string[]) {
  const said = { code: 0, out: '', error: '' }
  said.code = await cli(args, {
    out: (text) => {
      said.out += `${text}\n`
    },
    error: (text) => {
      said.error += `${text}\n`
    },
  })
  return said
}

async function ended(running: Running): Promise<number | null> {
  if (running.child.exitCode === null) await once(running.child, 'close')
  return running.child.exitCode
}

describeOneDatabase('posthorn listen and posthorn trigger', 'sqlite', (open) => {
  async function started(place: Parameters<typeof startService>[0] & object) {
    const service = await startService(place)
    closing({ close: () => service.stop() })
    return service
  }

  it('forward signed events of a running service to a local address, and continue after a disconnect', async () => {
    const place = await open.place()
    const service = await started({ place })
    const receiver = closing(await startReceiver())
    const reach = ['--url', service.url, '--key', service.key]
    const home = mkdtempSync(join(tmpdir(), 'posthorn-home-'))
    closing({ close: async () => rmSync(home, { recursive: true }) })
    const listening = listen(['--forward', receiver.url, ...reach, '--events', 'message.*'], home)
    await eventually(() => expect(listening.out).toContain(`Forwarding events of ${service.url} to ${receiver.url}.`))
    const [, secret = ''] = /^Signing secret: (whsec_\S+)$/m.exec(listening.out) ?? []

    const triggered = await posthorn('trigger', 'message.received', ...reach)
    expect(triggered).toMatchObject({ code: 0, error: '' })
    const [, eventId = ''] = /^message\.received {2}(evt_\w+)$/m.exec(triggered.out) ?? []
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    receiver.verify(secret)
    const [request] = receiver.requests
    expect(request?.headers['webhook-id']).toBe(eventId)
    const body = JSON.parse(request?.body ?? '')
    expect(Object.keys(body).slice(0, 4)).toEqual(['deliveryId', 'test', 'id', 'type'])
    expect(body).toMatchObject({ test: true, id: eventId, type: 'message.received', data: expect.anything() })
    expect(body).not.toHaveProperty('position')
    await eventually(() =>
      expect(listening.out).toMatch(
        new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}message\\.received +${eventId} \\(test\\) -> 204 in \\d+ ms$`, 'm'),
      ),
    )

    await service.stop()
    await eventually(() => expect(listening.error).toContain(`Cannot reach ${service.url} (`))
    const again = await started({ place, environment: { PORT: new URL(service.url).port } })
    const client = api(again.url, again.key)
    await client.post('/webhooks/test-event', { type: 'account.connected' })
    await client.post('/webhooks/test-event', { type: 'message.sent' })
    receiver.script({ status: 500 })
    await eventually(() => expect(listening.out).toMatch(/message\.sent .* -> 500 in/))
    expect(receiver.requests).toHaveLength(2)

    listening.child.kill('SIGINT')
    expect(await ended(listening)).toBe(0)
    const next = listen(['--forward', receiver.url, ...reach], home)
    await eventually(() => expect(next.out).toContain(`Signing secret: ${secret}\n`))
  })

  it('print events without a target, as text or as JSON, of the chosen types and account', async () => {
    const service = await started({ place: await open.place() })
    const reach = ['--url', service.url, '--key', service.key]
    const text = listen([...reach, '--events', 'account.*,message.sent'])
    const json = listen([...reach, '--print-json'])
    const other = listen([...reach, '--account', 'acc_other'])
    for (const shown of [() => text.out, () => json.error, () => other.out]) {
      await eventually(() => expect(shown()).toContain(`Showing events of ${service.url}. Press Ctrl-C to stop.`))
    }
    const client = api(service.url, service.key)
    await client.post('/webhooks/test-event', { type: 'message.received' })
    await client.post('/webhooks/test-event', { type: 'message.sent' })
    await eventually(() => expect(text.out).toMatch(/^\d\d:\d\d:\d\d {2}message\.sent +evt_\w+ \(test\)/m))
    expect(text.out).not.toContain('message.received')
    await eventually(() => expect(json.out.trim().split('\n')).toHaveLength(2))
    const types = json.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(types).toEqual(['message.received', 'message.sent'])
    expect(other.out).not.toContain('evt_')
  })

  it('print the response of each endpoint, and that the local address fails', async () => {
    const service = await started({ place: await open.place(), environment: { PRIVATE_TARGETS: 'loopback' } })
    const receiver = closing(await startReceiver())
    const client = api(service.url, service.key)
    await client.post('/webhooks/endpoints', { id: 'mine', url: receiver.url, eventTypes: ['account.*'] })
    await client.post('/webhooks/endpoints', { id: 'other', url: receiver.url })
    const reach = ['--url', service.url, '--key', service.key]
    const triggered = await posthorn('trigger', 'account.connected', ...reach)
    expect(triggered).toEqual({ code: 0, out: expect.stringContaining('\n  mine  success  204\n'), error: '' })
    expect(receiver.requests.map(({ body }) => JSON.parse(body).test)).toEqual([true])

    const listening = listen(['--forward', 'http://127.0.0.1:1/hook', ...reach])
    await eventually(() => expect(listening.out).toContain('Forwarding events'))
    await client.post('/webhooks/test-event', { type: 'message.received' })
    await eventually(() => expect(listening.out).toMatch(/ -> failed \(.+\) in/))
  })
})

it.each([
  [['listen', '--forward', 'nowhere'], '--forward must be an address', 2],
  [['trigger'], 'trigger needs an event type', 2],
  [['trigger', 'message.received', '--forward', 'x'], '--forward is not an option of trigger.', 2],
  [['trigger', 'x', '--url', 'x', '--key', 'k'], '--url must be an http or https URL.', 2],
  [['trigger', 'message.received', '--url', 'http://127.0.0.1:1', '--key', 'k'], 'Cannot reach http://127.0.0.1:1', 1],
] as [string[], string, number][])('%j ends with "%s" and exit code %i', async (args, message, code) => {
  expect(await posthorn(...args)).toEqual({ code, out: '', error: expect.stringContaining(`posthorn: ${message}`) })
})

it('trigger --list prints the event types without a service', async () => {
  const { code, out } = await posthorn('trigger', '--list')
  expect(code).toBe(0)
  expect(out.split('\n')).toContain('message.received')
})

it('a wrong key and an unknown type fail without a retry', async () => {
  const service = await startService()
  closing({ close: () => service.stop() })
  const hook = ['--forward', 'http://127.0.0.1:1/', '--url', service.url]
  const refused: [string[], string, number][] = [
    [['listen', ...hook, '--key', 'wrong'], 'The service responded 401', 1],
    [['listen', ...hook, '--key', service.key, '--events', 'mail'], 'The service responded 400', 1],
    [['trigger', 'message.recieved', ...hook.slice(2), '--key', service.key], 'Did you mean "message.received"?', 2],
  ]
  for (const [args, message, code] of refused) {
    expect(await posthorn(...args)).toMatchObject({ code, error: expect.stringContaining(message) })
  }
})
