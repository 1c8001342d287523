import { type Compilable, type CompiledQuery, type DialectAdapter, SqliteAdapter } from 'kysely'
import type { Handle } from './db.ts'
import { PREPARED_MARK } from './prepared.ts'

/** In the place of an argument, or of a member of a list. */
class Placeholder {
  readonly argument: number
  readonly member: number | undefined
  constructor(argument: number, member?: number) {
    this.argument = argument
    this.member = member
  }
}

/** Compiled statements by the lengths of their lists. */
type Texts = Map<string, CompiledQuery<unknown>>
const MAX_TEXTS = 100

/**
 * A statement that is built and compiled once, not at every run: both together cost more than running a small statement. `build` gets
 * placeholders and may only use them as values, because the text cannot depend on arguments. A list is for `in`, and has a text
 * for each length: pass it `padded`. The result of a call are the rows. Throws at the first call if `build` does not use an argument.
 * PostgreSQL prepares the statement, too, unless it selects `*`.
 */
export function compiledOnce<Args extends readonly unknown[], Row>(
  build: (handle: Handle, ...args: Args) => Compilable<Row>,
): (handle: Handle, ...args: Args) => Promise<Row[]> {
  const byEngine = new WeakMap<DialectAdapter, Texts>()

  function compiled(handle: Handle, args: Args): CompiledQuery<unknown> {
    const { adapter } = handle.getExecutor()
    const texts: Texts = byEngine.get(adapter) ?? new Map()
    byEngine.set(adapter, texts)
    const lengths = args.map((arg) => (Array.isArray(arg) ? arg.length : '')).join()
    const cached = texts.get(lengths)
    if (cached !== undefined) return cached
    const placeholders = args.map((arg, argument) =>
      Array.isArray(arg) ? arg.map((_, member) => new Placeholder(argument, member)) : new Placeholder(argument),
    )
    const made = build(handle, ...(placeholders as unknown as Args)).compile()
    const used = new Set(made.parameters.map((value) => (value instanceof Placeholder ? value.argument : -1)))
    const unused = args.findIndex((_, argument) => !used.has(argument))
    if (unused !== -1) throw new Error(`argument ${unused} is no value of the statement: ${made.sql}`)
    if (texts.size >= MAX_TEXTS) texts.clear()
    const mayPrepare = !(adapter instanceof SqliteAdapter || made.sql.includes('*'))
    const query = mayPrepare ? { ...made, sql: `${PREPARED_MARK} ${made.sql}` } : made
    texts.set(lengths, query)
    return query
  }

  return async (handle, ...args) => {
    const query = compiled(handle, args)
    const parameters = query.parameters.map((value) =>
      value instanceof Placeholder ? readArgument(value, args) : value,
    )
    return (await handle.executeQuery<Row>({ ...(query as CompiledQuery<Row>), parameters })).rows
  }
}

function readArgument({ argument, member }: Placeholder, args: readonly unknown[]): unknown {
  const value = args[argument]
  return member === undefined ? value : (value as readonly unknown[])[member]
}
