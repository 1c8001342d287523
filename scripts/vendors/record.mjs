// Preloaded by check-vendors.mjs: writes each request to a fake of Google or Microsoft, with its response, to $VENDOR_RECORDS.
import { appendFileSync } from 'node:fs'
import { Server } from 'node:http'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'

const FILE = join(process.env.VENDOR_RECORDS ?? '.', `${process.pid}-${threadId}.jsonl`)
const VENDORS =
  /^\/(gmail\/v1|upload\/gmail|batch\/|calendar\/v3|admin\/directory\/v1|v1\/(projects|people|contactGroups)\b|v1\.0\/)/
/** Longer bodies are those of attachments. */
const MAX_BYTES = 1024 * 1024

const emit = Server.prototype.emit
Server.prototype.emit = function (name, ...args) {
  if (name === 'request' && VENDORS.test(args[0].url)) record(args[0], args[1])
  return emit.call(this, name, ...args)
}

function record(request, response) {
  const sent = keepChunks(request, ['push'])
  const received = keepChunks(response, ['write', 'end'])
  const headers = keepHeaders(response)
  response.once('close', () => {
    const responseHeaders = headers()
    const line = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      ...formatBody('body', sent),
      status: response.statusCode,
      responseHeaders,
      ...formatBody('responseBody', received, responseHeaders['content-encoding'] === 'gzip'),
      // False for a fault that a test injected: the connection ended before the response.
      isComplete: response.writableFinished,
    }
    appendFileSync(FILE, `${JSON.stringify(line)}\n`)
  })
}

/** Keeps what passes these methods of a stream, whose first argument is a chunk. */
function keepChunks(stream, methods) {
  const chunks = []
  for (const method of methods) {
    const original = stream[method]
    stream[method] = function (chunk, encoding, ...rest) {
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8'))
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
      return original.call(this, chunk, encoding, ...rest)
    }
  }
  return chunks
}

/** Headers that are given to `writeHead` do not appear in `getHeaders`. */
function keepHeaders(response) {
  const headersSet = {}
  const { writeHead } = response
  response.writeHead = function (status, ...rest) {
    const headers =
      rest.find((argument) => typeof argument === 'object' && argument !== null && !Array.isArray(argument)) ?? {}
    for (const [name, value] of Object.entries(headers)) headersSet[name.toLowerCase()] = value
    return writeHead.call(this, status, ...rest)
  }
  return () => ({ ...response.getHeaders(), ...headersSet })
}

function formatBody(name, chunks, isCompressed = false) {
  const bytes = Buffer.concat(chunks)
  if (bytes.length > MAX_BYTES) return { [name]: null }
  return { [name]: (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8') }
}
