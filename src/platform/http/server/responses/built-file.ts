import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { preferredEncoding } from '../requests/accept.ts'

/** The endings of the compressed files, by content encoding, the smallest first. `scripts/served.mjs` writes them. */
const ENDINGS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }

interface BuiltFile {
  /** A folder of `dist`. */
  folder: 'docs' | 'embed' | 'admin'
  name: string
  type: string
  /** The name contains a hash of the content. Clients keep the file for a year. */
  isImmutable?: boolean
}

/**
 * Streams a file of the build, compressed if the client accepts it. Clients may keep it, but must ask whether it has changed,
 * because its address is the same after an upgrade. A client that has this version gets 304.
 */
export async function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BuiltFile,
): Promise<FastifyReply> {
  // The build does not compress images again.
  const encodings = file.name.endsWith('.png') ? [] : Object.keys(ENDINGS)
  const encoding = preferredEncoding(request.headers['accept-encoding'], encodings)
  const ending = encoding === undefined ? '' : ENDINGS[encoding]
  const handle = await open(builtFile(file.folder, `${file.name}${ending}`))
  try {
    const { size, mtimeMs } = await handle.stat()
    const etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`
    const cacheControl = file.isImmutable ? 'public, max-age=31536000, immutable' : 'public, no-cache'
    reply.headers({ 'cache-control': cacheControl, vary: 'accept-encoding', etag })
    if (isCurrent(request.headers['if-none-match'], etag)) {
      await handle.close()
      return reply.code(304).send()
    }
    if (encoding !== undefined) reply.header('content-encoding', encoding)
    // The stream closes the file.
    return reply.type(file.type).header('content-length', size).send(handle.createReadStream())
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A proxy that compresses makes the tag a weak one (RFC 9110, section 13.1.2). */
function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

/** Beside the running program, or in `dist/` when Node runs the sources. */
export function builtFile(folder: BuiltFile['folder'], name: string): URL {
  const besideProgram = new URL(`./${folder}/`, import.meta.url)
  const base = existsSync(besideProgram) ? besideProgram : new URL(`../../../../../dist/${folder}/`, import.meta.url)
  return new URL(name, base)
}
