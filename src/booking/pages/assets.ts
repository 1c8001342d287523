import { readFile } from 'node:fs/promises'
import { lazy } from '../../platform/concurrency/lazy.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { type App, builtFile, sendBuiltFile } from '../../platform/http/index.ts'

/** The manifest that `scripts/widget.mjs` writes. */
interface Manifest {
  /** Names with a hash, by the name that stays the same. */
  entries: Record<string, string>
  /** The files that an entry imports at once. */
  preloads: Record<string, string[]>
  /** Every name with a hash. */
  files: string[]
}

export type Assets = ReturnType<typeof assets>

const TYPE = 'text/javascript; charset=utf-8'
/** A page loads about eight files. */
const LIMITS = { name: 'embed-files', address: { limit: 600, windowMs: 60_000 } }

/** The scripts of the widget, read from the build when a page first needs them. */
export function assets() {
  const read = lazy(
    async (): Promise<Manifest> => JSON.parse(await readFile(builtFile('embed', 'manifest.json'), 'utf8')),
  )
  return {
    /** The names with a hash of the scripts of our own pages. */
    async scripts() {
      const { entries, preloads } = await read()
      const [widget = '', frame = ''] = ['posthorn-scheduler.js', 'frame.js'].map((name) => entries[name])
      return { widget, frame, preloads: preloads['posthorn-scheduler.js'] ?? [] }
    },
    /** Whether the file exists, and whether it never changes. */
    async find(name: string): Promise<'immutable' | 'stable' | undefined> {
      const { entries, files } = await read()
      if (files.includes(name)) return 'immutable'
      return Object.hasOwn(entries, name) ? 'stable' : undefined
    },
  }
}

/** The scripts. Pages of other origins load them as modules, which needs CORS headers: they are the same for everybody. */
export function assetRoutes(app: App, own: Assets): void {
  const config = { access: 'public', rateLimit: LIMITS, cors: async () => ['*'] } as const
  app.get<{ Params: { file: string } }>(
    '/embed/v1/:file',
    { config, schema: { hide: true } },
    async (request, reply) => {
      const { file: name } = request.params
      const found = await own.find(name)
      if (found === undefined) throw new AppError('route_not_found')
      reply.header('cross-origin-resource-policy', 'cross-origin')
      return sendBuiltFile(request, reply, { folder: 'embed', name, type: TYPE, isImmutable: found === 'immutable' })
    },
  )
}
