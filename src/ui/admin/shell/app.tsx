import { Button, Center, Loader, Paper } from '@mantine/core'
import { Component, lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import type { ApiError } from '../api/client.ts'
import { LiveUpdates } from '../api/live.tsx'
import { isSwitchedOn, useSession } from '../api/session.ts'
import { PAGES } from '../pages/index.ts'
import { Empty } from '../parts/empty.tsx'
import { IconCircleCheck, IconSearch } from '../parts/icons.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
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

/** Where a link that the portal created leads in the end. Its visitor is the owner of a mailbox, who may have no access to the portal. */
function Connected() {
  useEffect(() => {
    document.title = 'Mailbox · Posthorn'
  }, [])
  const isCancelled = new URLSearchParams(window.location.search).has('error')
  return (
    <main className="sign-in">
      <Paper withBorder shadow="sm" className="sign-in-card">
        <Empty
          icon={IconCircleCheck}
          title={isCancelled ? 'The mailbox was not connected' : 'The mailbox is connected'}
        >
          {isCancelled ? 'Nothing was changed. You can close this page.' : 'Thank you. You can close this page.'}
        </Empty>
      </Paper>
    </main>
  )
}

function NotFound() {
  return (
    <Page title="Page not found">
      <Paper withBorder>
        <Empty
          icon={IconSearch}
          title="There is no page at this address"
          action={
            <Button component={Link} href="/">
              Open the overview
            </Button>
          }
        >
          The link may be from an older version of the portal. The search finds every page.
        </Empty>
      </Paper>
    </Page>
  )
}
