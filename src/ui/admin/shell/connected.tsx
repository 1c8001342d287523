import { Paper } from '@mantine/core'
import { useEffect } from 'react'
import { Empty } from '../parts/empty.tsx'
import { IconCircleCheck } from '../parts/icons.tsx'

/** Where a link that the portal created leads in the end. Its visitor is the owner of a mailbox, who may have no access to the portal. */
export function Connected() {
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
