/** A file of a request. Its name in `files` is that of its part. */
export interface UploadFile {
  /** A stream is sent while it is read, and such a request is not retried. */
  content: Blob | Uint8Array | string | ReadableStream<Uint8Array>
  /** Default: the name of a `File`, otherwise that of the part. */
  filename?: string
  contentType?: string
}

/** The files of a request, by the name of their part. */
export type Files = Readonly<Record<string, Blob | UploadFile>>

/** A body for `fetch`, and the headers that it needs. */
export interface EncodedBody {
  body: string | FormData | ReadableStream<Uint8Array>
  headers: Record<string, string>
  /** A stream can be read once. */
  isStream: boolean
}

export function encodeJson(value: unknown): EncodedBody {
  return { body: JSON.stringify(value), headers: { 'content-type': 'application/json' }, isStream: false }
}

/** Encodes a message and its files as `multipart/form-data`, the message as the part `message`. */
export function encodeForm(message: unknown, files: Files): EncodedBody {
  const parts = Object.entries(files).map(([part, file]) => namedFile(part, file))
  const text = JSON.stringify(message)
  if (parts.some(({ content }) => content instanceof ReadableStream)) return streamForm(text, parts)
  const form = new FormData()
  form.append('message', text)
  for (const { part, content, filename, contentType } of parts) {
    form.append(part, new Blob([content as Blob | string], { type: contentType }), filename)
  }
  return { body: form, headers: {}, isStream: false }
}

type NamedFile = Required<UploadFile> & { part: string }

function namedFile(part: string, file: Blob | UploadFile): NamedFile {
  const { content, filename, contentType } = file instanceof Blob ? { content: file } : file
  const type = content instanceof Blob ? content.type : typeof content === 'string' ? 'text/plain' : ''
  return {
    part,
    content,
    filename: filename ?? (content instanceof File ? content.name : part),
    contentType: contentType ?? (type === '' ? 'application/octet-stream' : type),
  }
}

function streamForm(message: string, files: readonly NamedFile[]): EncodedBody {
  const boundary = `posthorn-${randomHex()}`
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const chunks = writeForm(message, files, boundary)
  const body = new ReadableStream<Uint8Array>({
    async pull(target) {
      const { done, value } = await chunks.next()
      if (done) target.close()
      else target.enqueue(value)
    },
    async cancel(reason) {
      for (const { content } of files) {
        if (content instanceof ReadableStream && !content.locked) await content.cancel(reason)
      }
      await chunks.return()
    },
  })
  return { body, headers, isStream: true }
}

async function* writeForm(
  message: string,
  files: readonly NamedFile[],
  boundary: string,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder()
  const head = (lines: readonly string[]) => encoder.encode(`--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`)
  yield head(['content-disposition: form-data; name="message"'])
  yield encoder.encode(message)
  for (const { part, content, filename, contentType } of files) {
    yield encoder.encode('\r\n')
    yield head([
      `content-disposition: form-data; name="${escapeName(part)}"; filename="${escapeName(filename)}"`,
      `content-type: ${contentType.replaceAll(/[\r\n]/g, '')}`,
    ])
    yield* readChunks(content)
  }
  yield encoder.encode(`\r\n--${boundary}--\r\n`)
}

async function* readChunks(content: UploadFile['content']): AsyncGenerator<Uint8Array, void> {
  const stream = content instanceof ReadableStream ? content : new Blob([content as Blob | string]).stream()
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** As browsers write names in forms. */
function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
}

/** 128 random bits. `crypto.randomUUID` would need a secure context in browsers. */
export function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
