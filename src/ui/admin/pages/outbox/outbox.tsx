import { Tabs } from '@mantine/core'
import { Page } from '../../parts/page.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { Drafts } from './drafts.tsx'
import { Sending } from './sending.tsx'

export default function Outbox() {
  const [{ tab }, setUrl] = useUrlState(['tab', 'status', 'accountId', 'open'])
  return (
    <Page
      title="Drafts and outbox"
      description="Messages that your application sends: those that wait, those that were sent, and those that need a decision."
    >
      <Tabs
        value={tab || 'outbox'}
        onChange={(value) => setUrl({ tab: value === 'outbox' ? '' : value, status: '', open: '' })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="outbox">Outbox</Tabs.Tab>
          <Tabs.Tab value="drafts">Drafts</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="outbox">
          <Sending />
        </Tabs.Panel>
        <Tabs.Panel value="drafts">
          <Drafts />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
