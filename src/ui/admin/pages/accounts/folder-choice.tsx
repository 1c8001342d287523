import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account, AccountFolders } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'

/** Chooses the folders that are synced besides the main one. Only for imap. */
export function FolderChoice({ account }: { account: Account }) {
  const path = `/admin/accounts/${account.id}/folders`
  const { data } = useRead<AccountFolders>(path, {}, { live: ['account.', 'mailbox.'] })
  const [draft, setDraft] = useState<readonly string[] | null>(null)
  const save = useAction(
    (folders: readonly string[] | null) => api.patch<Account>(`/accounts/${account.id}`, { folders }),
    {
      invalidates: ['/accounts', path],
      done: 'Saved. The next sync reads the folders.',
      toastError: false,
      onDone: () => setDraft(null),
    },
  )
  if (data === undefined || data.folders.length === 0) return null
  const { folders, cost } = data
  const current = folders.filter(({ isSynced, isMain }) => isSynced && !isMain).map(({ id }) => id)
  const chosen = draft ?? current
  const toggle = (id: string) => setDraft(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id])
  return (
    <Section
      title="Synced folders"
      description={
        account.folders === null
          ? 'The default: the folders that messages are moved to, and those of SYNC_FOLDERS.'
          : 'Chosen for this account.'
      }
    >
      <Stack gap="xs">
        {folders.map(({ id, name, isMain, messages }) => (
          <Checkbox
            key={id}
            label={`${name} (${messages.toLocaleString('en')} stored)`}
            checked={isMain || chosen.includes(id)}
            disabled={isMain}
            onChange={() => toggle(id)}
          />
        ))}
        {cost !== null && (
          <Text size="sm" c="dimmed">
            {`Now ${cost.connections === 1 ? 'one permanent connection' : 'no permanent connection'}, and ${cost.statusesPerMinute} STATUS commands a minute. With this choice: ${chosen.length}.`}
          </Text>
        )}
        {save.error !== null && <Problem title="The folders could not be chosen" error={save.error} />}
        <Group>
          <Button disabled={draft === null} loading={save.isPending} onClick={() => save.mutate(chosen)}>
            Save
          </Button>
          <Button
            variant="default"
            disabled={account.folders === null && draft === null}
            onClick={() => save.mutate(null)}
          >
            Use the default
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
