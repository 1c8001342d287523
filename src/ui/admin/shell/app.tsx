import { Center, Loader } from '@mantine/core'
import { Component, lazy, type ReactNode, Suspense } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import type { ApiError } from '../api/client.ts'
import { LiveUpdates } from '../api/live.tsx'
import { isSwitchedOn, useSession } from '../api/session.ts'
import { PAGES } from '../pages/index.ts'
import { Problem } from '../parts/problem.tsx'
import { Connected } from './connected.tsx'
import { NotFound } from './not-found.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const ROUTES = PAGES.map(({ path, load }) => ({
  path,
  component: lazy(async () => ({ default: (await load()).default })),
}))

const SWITCHED_OFF =
  'Nobody can sign in, because the service has no password for it. Set ADMIN_PASSWORD (12 characters or more) and start the service again.'

/** Without a session, the sign-in page is shown at the same address, so that signing in continues there. */
export function App() {
  const { session, error, retry } = useSession()
  const [location] = useLocation()
  if (location === '/connected') return <Connected />
  if (!isSwitchedOn) {
    return (
      <main className="sign-in">
        <div className="sign-in-card">
          <Problem
            title="The portal is switched off"
            error={new Error(SWITCHED_OFF)}
            onRetry={() => window.location.reload()}
          />
        </div>
      </main>
    )
  }
  if (session === null) return <SignIn />
  if (session === undefined) {
    if (error !== null) {
      return (
        <main className="sign-in">
          <div className="sign-in-card">
            <Problem title="The service cannot be reached" error={error} onRetry={() => void retry()} />
          </div>
        </main>
      )
    }
    return <Loading />
  }
  return (
    <LiveUpdates>
      <Shell session={session}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {ROUTES.map(({ path, component: Content }) => (
              <Route key={path} path={path}>
                {(params) => (
                  <Guard key={path + JSON.stringify(params)}>
                    <Content {...params} />
                  </Guard>
                )}
              </Route>
            ))}
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </Shell>
    </LiveUpdates>
  )
}

function Loading() {
  return (
    <Center h="60dvh">
      <Loader aria-label="Loading" />
    </Center>
  )
}

/** A page that fails leaves the rest of the portal usable. */
class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Problem
        title="This page cannot be shown"
        error={isOutdated(error) ? new Error('The service was updated. Load the page again.') : (error as ApiError)}
        onRetry={() => window.location.reload()}
      />
    )
  }
}

/** After an upgrade the files of the previous version are no longer served. */
function isOutdated(error: Error): boolean {
  return /dynamically imported module|module script failed|preload/i.test(error.message)
}
