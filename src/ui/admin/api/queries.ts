import { notifications } from '@mantine/notifications'
import { keepPreviousData, useIsMutating, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, api, type Query } from './client.ts'
import { usePollMs } from './live.tsx'

export interface ReadOptions {
  /** Prefixes of event types after which the data is read again, such as `account.`. */
  live?: readonly string[]
  /** False: nothing is read yet. */
  enabled?: boolean
  /** Default: see `live.tsx`. False: only when it is invalidated. */
  pollMs?: number | false
}

/** Reads a path of the API and keeps it up to date. While other parameters load, the previous data stays. */
export function useRead<Result>(path: string, query: Query = {}, options: ReadOptions = {}) {
  const pollMs = usePollMs()
  // A poll of what is being deleted may come just after the deletion, and would fail.
  const isBeingRemoved = useIsMutating({ predicate: ({ options }) => isRemovedBy(options.mutationKey, path) }) > 0
  return useQuery<Result, ApiError>({
    queryKey: ['api', path, query],
    queryFn: ({ signal }) => api.get<Result>(path, query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: options.pollMs ?? pollMs,
    enabled: (options.enabled ?? true) && !isBeingRemoved,
    meta: { live: options.live ?? [] },
  })
}

function isRemovedBy(mutationKey: readonly unknown[] | undefined, path: string): boolean {
  return mutationKey?.[0] === 'remove' && path.includes(String(mutationKey[1]))
}

/** Marks everything read from these paths, and from paths below them, as outdated. */
export function useInvalidate(): (...paths: string[]) => Promise<void> {
  const client = useQueryClient()
  return async (...paths) => {
    await client.invalidateQueries({
      predicate: ({ queryKey: [kind, path] }) =>
        kind === 'api' && typeof path === 'string' && paths.some((prefix) => path.startsWith(prefix)),
    })
  }
}

const readsFrom =
  (part: string) =>
  ({ queryKey: [kind, path] }: { queryKey: readonly unknown[] }) =>
    kind === 'api' && typeof path === 'string' && path.includes(part)

interface ActionOptions<Result> {
  /** Paths to read again afterwards. */
  invalidates: readonly string[]
  /** A part of the paths of an object that no longer exists: they are not read again. */
  removes?: string
  /** The toast. */
  done?: string | ((result: Result) => string)
  onDone?(result: Result): void
  /** False: the caller shows the error, for example beside a form. */
  toastError?: boolean
}

/** Something that an operator does: runs it, reads what it changed again, and says that it is done or why it failed. */
export function useAction<Input = void, Result = unknown>(
  run: (input: Input) => Promise<Result>,
  { invalidates, removes, done, onDone, toastError = true }: ActionOptions<Result>,
) {
  const client = useQueryClient()
  const invalidate = useInvalidate()
  const removed = removes === undefined ? undefined : { predicate: readsFrom(removes) }
  return useMutation<Result, ApiError, Input>({
    mutationFn: run,
    ...(removes !== undefined && { mutationKey: ['remove', removes] }),
    async onMutate() {
      // What is being read of it may arrive just after the deletion.
      if (removed !== undefined) await client.cancelQueries(removed)
    },
    async onSuccess(result) {
      if (removed !== undefined) client.removeQueries(removed)
      if (done !== undefined) {
        notifications.show({ message: typeof done === 'string' ? done : done(result), color: 'teal' })
      }
      onDone?.(result)
      await invalidate(...invalidates)
    },
    onError(error) {
      if (!toastError) return
      const id = error.requestId === undefined ? '' : ` (request ${error.requestId})`
      notifications.show({
        title: 'That did not work',
        message: `${formatError(error)}${id}`,
        color: 'red',
        autoClose: 12_000,
      })
    },
  })
}

/** The message with the fields that it is about. */
function formatError(error: ApiError): string {
  const details = (error.details ?? []).map(({ path, message }) => `${path.replace(/^body\./, '')} ${message}`)
  return details.length === 0 ? error.message : `${error.message} ${details.join('. ')}.`
}
