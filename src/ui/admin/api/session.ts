import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { ApiError, api, setCredentials } from './client.ts'

export interface Session {
  username: string
  csrfToken: string
  expiresAt: string
}

const KEY = ['session']
/** The session's state when the service made the page: a request without a session would be an error in the console. */
const initially = document.documentElement.dataset.session

/** False when the service has no password, so that nobody can sign in. */
export const isSwitchedOn = initially !== 'off'

/** The session of this browser: undefined while it is read, null when nobody is signed in. */
export function useSession() {
  const client = useQueryClient()
  const accept = useCallback(
    (session: Session | null) => {
      setCredentials(session?.csrfToken, () => client.setQueryData(KEY, null))
      client.setQueryData(KEY, session)
      return session
    },
    [client],
  )
  const { data, error, refetch } = useQuery<Session | null>({
    queryKey: KEY,
    queryFn: async () => {
      try {
        const session = await api.get<Session>('/admin/session')
        setCredentials(session.csrfToken, () => client.setQueryData(KEY, null))
        return session
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }
    },
    ...(initially === 'none' && { initialData: null }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return {
    session: data,
    error,
    retry: refetch,
    async signIn(username: string, password: string) {
      const session = await api.post<Session>('/admin/session', { username, password })
      accept(session)
    },
    /** Also removes what was read with the session from memory. */
    async signOut(everywhere = false) {
      await api.delete(everywhere ? '/admin/sessions' : '/admin/session')
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] })
      accept(null)
    },
  }
}
