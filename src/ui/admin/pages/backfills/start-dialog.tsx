import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { BackfillConfig } from '../../api/types.ts'
import { AccountsField } from '../../parts/account-picker.tsx'
import { Problem } from '../../parts/problem.tsx'

/** Accounts in one go. */
const MOST = 50

export function StartDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const [accounts, setAccounts] = useState<string[]>([])
  const { data } = useRead<BackfillConfig>('/historical-sync/config', {}, { enabled: isOpen, pollMs: false })
  const start = useAction(
    async () => {
      for (const id of accounts) await api.post(`/historical-sync/start/${encodeURIComponent(id)}`)
    },
    {
      invalidates: ['/historical-sync'],
      done: accounts.length === 1 ? 'The backfill was started.' : `${accounts.length} backfills were started.`,
      toastError: false,
      onDone: onClose,
    },
  )
  const reset = () => {
    start.reset()
    setAccounts([])
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Start a backfill">
      <Stack>
        {start.error !== null && <Problem title="It could not be started" error={start.error} />}
        <AccountsField label="Accounts" value={accounts} onChange={(chosen) => setAccounts(chosen.slice(0, MOST))} />
        {data !== undefined && (
          <Text size="sm" c="dimmed">
            Reads the mail of the last {data.timeRangeDays} days.{' '}
            {!data.enabled && 'Backfills are switched off in the settings, so it waits.'}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={accounts.length === 0} loading={start.isPending} onClick={() => start.mutate()}>
            Start
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
