import { Button, Paper } from '@mantine/core'
import { Link } from 'wouter'
import { Empty } from '../parts/empty.tsx'
import { IconSearch } from '../parts/icons.tsx'
import { Page } from '../parts/page.tsx'

export function NotFound() {
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
          The link may be from an older version of the portal. Press Ctrl+K to find a page.
        </Empty>
      </Paper>
    </Page>
  )
}
