import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { addressGuard } from '../net/index.ts'
import { systemClock } from '../time/clock.ts'
import type { OutboundFailure, OutboundRequest } from './contract.ts'
import { type OutboundDeps, outbound } from './outbound.ts'

/** Every host resolves to 127.0.0.1, except those in `names`. */
function client(options: { privateTargets?: string; names?: Record<string, string[]> } & Partial<OutboundDeps> = {}) {
  const { privateTargets = 'loopback', names = {}, ...rest } = options
  const guard = addressGuard({
    privateTargets,
    clock: systemClock,
    async resolve(host) {
      if (host.endsWith('.invalid')) throw new Error('NXDOMAIN')
      return { addresses: names[host] ?? ['127.0.0.1'], ttlMs: 60_000 }
    },
  })
  const http = outbound({ guard, ...rest })
  onTestFinished(() => http.close())
  const post = (url: string, more: Partial<OutboundRequest> = {}) =>
    http.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'text/plain' },
      body: 'hi',
      timeoutMs: 300_000,
      ...more,
    })
  return { http, post }
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const serve = (handle: RequestListener) => listen(createServer(handle))
const serveTcp = (talk: (socket: Socket) => void) => listen(createTcpServer(talk))

async function certificate(name: string) {
  const pem = await generate([{ name: 'commonName', value: name }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return { key: pem.private, cert: pem.cert }
}

const failsWith = (kind: OutboundFailure) => expect.objectContaining({ name: 'OutboundError', kind })

describe('sending', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const seen: unknown[] = []
    const port = await serve(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      seen.push([
        request.method,
        request.url,
        request.headers.host,
        request.headers['x-own'],
        Buffer.concat(chunks).toString(),
      ])
      response.writeHead(201, { 'x-response': 'yes' }).end('thanks')
    })
    const { post } = client()
    const received = await post(`http://app.example:${port}/hook?a=b#part`, {
      headers: { 'x-own': '1' },
      body: 'héllo',
    })
    expect(seen).toEqual([['POST', '/hook?a=b', `app.example:${port}`, '1', 'héllo']])
    expect(received).toMatchObject({ status: 201, headers: { 'x-response': 'yes' }, truncated: false })
    expect(received.body.toString()).toBe('thanks')
  })

  it('sends the methods of WebDAV, and returns responses up to the limit of the request', async () => {
    const port = await serve((request, response) => {
      response.writeHead(207).end(`${request.method} `.repeat(20_000))
    })
    const { post } = client()
    const { status, body, truncated } = await post(`http://app.example:${port}/`, {
      method: 'PROPFIND',
      maxResponseBytes: 200_000,
    })
    expect([status, truncated, body.length]).toEqual([207, false, 180_000])
    expect(body.subarray(0, 9).toString()).toBe('PROPFIND ')
  })

  it('does not send connection headers of the caller', async () => {
    const seen: (string | undefined)[] = []
    const port = await serve((request, response) => {
      seen.push(request.headers.host, request.headers['content-length'], request.headers.upgrade)
      response.end()
    })
    const { post } = client()
    const headers = { Host: 'other.example', 'Content-Length': '999', Upgrade: 'x', 'Transfer-Encoding': 'chunked' }
    await post(`http://app.example:${port}/`, { headers })
    expect(seen).toEqual([`app.example:${port}`, '2', undefined])
  })

  it('returns errors and redirects as responses, and follows no redirect', async () => {
    let contacted = 0
    const silent = await serveTcp(() => {
      contacted += 1
    })
    const port = await serve((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${silent}/` }).end()
    })
    const { post } = client()
    expect(await post(`http://app.example:${port}/`)).toMatchObject({ status: 307 })
    expect(contacted).toBe(0)
  })

  it('reuses connections', async () => {
    let connections = 0
    const server = createServer((_request, response) => response.end('ok'))
    server.on('connection', () => {
      connections += 1
    })
    const port = await listen(server)
    const { post } = client()
    for (let i = 0; i < 10; i += 1) await post(`http://app.example:${port}/`)
    expect(connections).toBeLessThanOrEqual(2)
  })

  it('limits the connections to one origin', async () => {
    let open = 0
    let most = 0
    const port = await serve((_request, response) => {
      open += 1
      most = Math.max(most, open)
      setTimeout(() => {
        open -= 1
        response.end('ok')
      }, 5)
    })
    const { post } = client({ limits: { perOrigin: 3 } })
    await Promise.all(Array.from({ length: 30 }, () => post(`http://app.example:${port}/`)))
    expect(most).toBe(3)
  })

  it('keeps the connections of each owner apart', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/responds') response.end('ok')
    })
    const port = await listen(server)
    const { post } = client({ limits: { perOrigin: 2 } })
    const stop = new AbortController()
    const hanging = Array.from({ length: 2 }, () =>
      post(`http://app.example:${port}/hangs`, { connectionOwner: 'one', signal: stop.signal }),
    )
    const ends = Promise.allSettled(hanging)
    expect(await post(`http://app.example:${port}/responds`, { connectionOwner: 'two' })).toMatchObject({ status: 200 })
    await expect(
      post(`http://app.example:${port}/responds`, { connectionOwner: 'one', timeoutMs: 100 }),
    ).rejects.toEqual(failsWith('timeout'))
    stop.abort(new Error('enough'))
    await ends
  })

  it('closes the idle connections of other origins when there are too many', async () => {
    const sockets = new Set<Socket>()
    const server = createServer((_request, response) => response.end('ok'))
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    const port = await listen(server)
    const { post } = client({ limits: { origins: 3 } })
    for (let i = 0; i < 12; i += 1) await post(`http://app${i}.example:${port}/`)
    await eventually(() => expect(sockets.size).toBeLessThanOrEqual(3))
    const bySockets = client({ limits: { sockets: 2 } })
    for (let i = 0; i < 12; i += 1) await bySockets.post(`http://app${i}.example:${port}/`)
    await eventually(() => expect(sockets.size).toBeLessThanOrEqual(6))
  })

  it('verifies the TLS name of the URL at the checked address', async () => {
    const own = await certificate('app.example')
    const port = await listen(createTlsServer(own, (_request, response) => response.end('secret')))
    const { post } = client({ ca: own.cert })
    expect((await post(`https://app.example:${port}/`)).body.toString()).toBe('secret')
    await expect(post(`https://other.example:${port}/`)).rejects.toEqual(failsWith('tls'))
    await expect(post(`https://127.0.0.1:${port}/`)).rejects.toEqual(failsWith('tls'))
    await expect(post(`https://app.example:${port}/`, { headers: { host: 'other.example' } })).resolves.toBeDefined()
  })
})

describe('limits', () => {
  it('truncates a response at the limit and closes its connection', async () => {
    let wasCut = false
    const port = await serve((_request, response) => {
      response.on('close', () => {
        wasCut = true
      })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const { post } = client()
    const received = await post(`http://app.example:${port}/`)
    expect(received).toMatchObject({ status: 200, truncated: true })
    expect(received.body).toHaveLength(65_536)
    await eventually(() => expect(wasCut).toBe(true))
    const short = await post(`http://app.example:${port}/`, { maxResponseBytes: 10 })
    expect(short.body.toString()).toBe('xxxxxxxxxx')
  })

  it('keeps 64 KB of a response that exceeds a larger limit', async () => {
    const port = await serve((_request, response) => response.end(Buffer.alloc(2_000_000, 'x')))
    const { post } = client()
    const { body, truncated } = await post(`http://app.example:${port}/`, { maxResponseBytes: 1_000_000 })
    expect([truncated, body.length]).toEqual([true, 64 * 1024])
  })

  it('does not report a response of exactly the limit as truncated', async () => {
    const port = await serve((_request, response) => response.end('0123456789'))
    const { post } = client()
    expect(await post(`http://app.example:${port}/`, { maxResponseBytes: 10 })).toMatchObject({ truncated: false })
  })

  const SLOW: [what: string, talk: (socket: Socket) => void][] = [
    ['never responds', () => {}],
    ['sends half a header', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le')],
    ['sends half a body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')],
    [
      'sends informational responses forever',
      (socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20)
        socket.on('close', () => clearInterval(timer))
      },
    ],
    [
      'sends a byte now and then',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
        const timer = setInterval(() => socket.write('x'), 20)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ]
  it.each(SLOW)('gives up in time on a server that %s, and hangs up', async (_what, talk) => {
    let isClosed = false
    const port = await serveTcp((socket) => {
      socket.on('close', () => {
        isClosed = true
      })
      socket.on('data', () => {})
      talk(socket)
    })
    const { post } = client()
    await expect(post(`http://app.example:${port}/`, { timeoutMs: 300 })).rejects.toEqual(failsWith('timeout'))
    await eventually(() => expect(isClosed).toBe(true))
  })

  it('includes the name lookup in the timeout', async () => {
    const guard = addressGuard({ privateTargets: 'none', clock: systemClock, resolve: () => new Promise(() => {}) })
    const http = outbound({ guard })
    onTestFinished(() => http.close())
    const sent = http.send({ method: 'GET', url: 'https://slow.example/', headers: {}, timeoutMs: 100 })
    await expect(sent).rejects.toEqual(failsWith('timeout'))
  })

  it('includes the TLS handshake in the timeout', async () => {
    const port = await serveTcp(() => {})
    const { post } = client()
    await expect(post(`https://app.example:${port}/`, { timeoutMs: 200 })).rejects.toEqual(failsWith('timeout'))
  })

  it('does not send a request that timed out while it waited for a connection', async () => {
    const received: string[] = []
    const port = await serveTcp((socket) => socket.on('data', (data) => received.push(String(data).slice(0, 7))))
    const { post } = client({ limits: { perOrigin: 1 } })
    const url = `http://app.example:${port}`
    const enough = new AbortController()
    const first = expect(post(`${url}/1`, { signal: enough.signal })).rejects.toThrow('enough')
    await expect(post(`${url}/2`, { timeoutMs: 100 })).rejects.toEqual(failsWith('timeout'))
    await eventually(() => expect(received).toEqual(['POST /1']))
    enough.abort(new Error('enough'))
    await first
    const later = new AbortController()
    const third = expect(post(`${url}/3`, { signal: later.signal })).rejects.toThrow('enough')
    await eventually(() => expect(received).toEqual(['POST /1', 'POST /3']))
    later.abort(new Error('enough'))
    await third
  })

  it('rejects with the reason of an aborted signal', async () => {
    const port = await serveTcp(() => {})
    const { post } = client()
    const stop = new AbortController()
    const sent = post(`http://app.example:${port}/`, { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(sent).rejects.toThrow('enough')
    await expect(post(`http://app.example:${port}/`, { signal: stop.signal })).rejects.toThrow('enough')
  })
})

describe('a signal shared by many requests', () => {
  it('aborts all of them with one listener', async () => {
    const port = await serveTcp(() => {})
    const { post } = client()
    const stop = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const sent = Array.from({ length: 20 }, () => post(`http://app.example:${port}/`, { signal: stop.signal }))
    const settled = Promise.allSettled(sent)
    stop.abort(new Error('enough'))
    for (const outcome of await settled)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'enough' } })
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })
})

describe('failures', () => {
  it('reports the kind of failure', async () => {
    const { post } = client()
    const resetting = await serveTcp((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const closing = await serveTcp((socket) => socket.once('data', () => socket.end()))
    const short = await serveTcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')),
    )
    const babbling = await serveTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')))
    const heavy = await serve((_request, response) => response.writeHead(200, { big: 'x'.repeat(20_000) }).end())
    const selfSigned = await listen(createTlsServer(await certificate('app.example'), (_q, response) => response.end()))
    const notTls = await serve((_request, response) => response.end())
    const cases: [string, OutboundFailure][] = [
      ['https://nobody.invalid/', 'dns'],
      ['http://app.example:1/', 'connect'],
      [`http://app.example:${resetting}/`, 'reset'],
      [`http://app.example:${closing}/`, 'reset'],
      [`http://app.example:${short}/`, 'reset'],
      [`http://app.example:${babbling}/`, 'protocol'],
      [`http://app.example:${heavy}/`, 'protocol'],
      [`https://app.example:${selfSigned}/`, 'tls'],
      [`https://app.example:${notTls}/`, 'tls'],
      ['ftp://app.example/', 'protocol'],
      ['not an address', 'protocol'],
      ['https://user:pass@app.example/', 'refused_address'],
    ]
    for (const [url, kind] of cases) await expect(post(url), url).rejects.toEqual(failsWith(kind))
  })

  it('reports a header that HTTP does not allow', async () => {
    const port = await serve((_request, response) => response.end())
    const { post } = client()
    await expect(post(`http://app.example:${port}/`, { headers: { 'x-bad': 'a\r\nb: c' } })).rejects.toEqual(
      failsWith('protocol'),
    )
  })

  it('recovers when the server comes back', async () => {
    let isBroken = true
    const port = await serveTcp((socket) =>
      socket.once('data', () =>
        isBroken ? socket.resetAndDestroy() : socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
      ),
    )
    const { post } = client()
    await expect(post(`http://app.example:${port}/`)).rejects.toEqual(failsWith('reset'))
    isBroken = false
    expect(await post(`http://app.example:${port}/`)).toMatchObject({ status: 200 })
  })

  it('fails running requests when it is closed, and sends no new ones', async () => {
    const port = await serveTcp(() => {})
    const { http, post } = client()
    const sent = expect(post(`http://app.example:${port}/`)).rejects.toEqual(failsWith('reset'))
    await http.close()
    await sent
    await http.close()
    await expect(post(`http://app.example:${port}/`)).rejects.toEqual(failsWith('reset'))
  })
})

describe('private addresses', () => {
  it('are never contacted, whatever their notation', async () => {
    let contacted = 0
    const port = await serveTcp(() => {
      contacted += 1
    })
    const { post } = client({ privateTargets: 'none', names: { 'two.example': ['1.1.1.1', '127.0.0.1'] } })
    const hosts = [
      '127.0.0.1',
      'localhost',
      'app.example',
      'two.example',
      '2130706433',
      '0x7f.1',
      '127.1',
      '0177.0.0.1',
    ]
    for (const host of [...hosts, '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '127.0.0.1.', '0.0.0.0', '[::]']) {
      for (const protocol of ['http', 'https']) {
        await expect(post(`${protocol}://${host}:${port}/`), host).rejects.toEqual(failsWith('refused_address'))
      }
    }
    expect(contacted).toBe(0)
  })

  it('are rejected with the name of the setting', async () => {
    const { post } = client({ privateTargets: 'none' })
    await expect(post('https://app.example/')).rejects.toThrow('PRIVATE_TARGETS')
    await expect(post('https://169.254.169.254/latest')).rejects.toThrow('PRIVATE_TARGETS')
  })

  it('include public ones over plain http', async () => {
    const { post } = client({ names: { 'app.example': ['1.1.1.1'] } })
    await expect(post('http://app.example/')).rejects.toThrow('requires https')
  })

  it('are rejected when a host moves there, even with an open connection to its former address', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const guard = addressGuard({
      privateTargets: 'loopback',
      clock: systemClock,
      resolve: async () => ({ addresses: answers.shift() ?? [], ttlMs: 1 }),
    })
    const http = outbound({ guard })
    onTestFinished(() => http.close())
    const port = await serve((_request, response) => response.end('ok'))
    const get = () => http.send({ method: 'GET', url: `http://app.example:${port}/`, headers: {}, timeoutMs: 5000 })
    expect(await get()).toMatchObject({ status: 200 })
    await eventually(() => expect(get()).rejects.toEqual(failsWith('refused_address')))
  })
})
