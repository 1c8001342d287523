// The admin portal: signs in, then shows the page of the address. `pages/index.ts` lists the pages.
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './app.css'
import './shell/shell.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { ApiError, ROOT } from './api/client.ts'
import { App } from './shell/app.tsx'
import { theme, variables } from './theme.ts'

/** The nonce of the page's own style; the browser hides it from selectors. Styles that are added without it are refused. */
const nonce = document.querySelector('style')?.nonce ?? ''
/** Read by `get-nonce`, which a part of Mantine's dialogs uses. */
Object.assign(window, { __webpack_nonce__: nonce })

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The API says what is wrong; only a service that does not respond is asked again.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && [0, 502, 503, 504].includes(error.status),
      refetchOnWindowFocus: true,
      staleTime: 2000,
    },
  },
})

const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <Router base={`${ROOT.pathname}admin`}>
          <App />
        </Router>
      </QueryClientProvider>
    </MantineProvider>,
  )
}
