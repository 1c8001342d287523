import { Button, Group, Modal, NumberInput, Skeleton, Stack, Switch } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { BackfillConfig } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'

const FIELDS = {
  timeRangeDays: {
    label: 'Days back',
    about: 'Counted from the start. Applies to backfills that start later.',
    min: 1,
    max: 365,
  },
  batchSize: {
    label: 'Messages of a batch',
    about: 'A smaller batch leaves more time to other work.',
    min: 1,
    max: 1000,
  },
  delayBetweenBatches: { label: 'Pause between batches', about: 'Milliseconds', min: 0, max: 60_000 },
  maxConcurrentAccounts: {
    label: 'Accounts at once',
    about: 'On all replicas together. The others wait.',
    min: 1,
    max: 10,
  },
} as const
type Name = keyof typeof FIELDS

/** The settings of all replicas. */
export function ConfigDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const { data, error } = useRead<BackfillConfig>('/historical-sync/config', {}, { enabled: isOpen, pollMs: false })
  const [changes, setChanges] = useState<Partial<BackfillConfig>>({})
  const save = useAction(() => api.put<BackfillConfig>('/historical-sync/config', changes), {
    invalidates: ['/historical-sync'],
    done: 'The settings apply to all replicas from the next batch on.',
    toastError: false,
    onDone: onClose,
  })
  const config = data === undefined ? undefined : { ...data, ...changes }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const reset = () => {
    save.reset()
    setChanges({})
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Settings of backfills">
      <form onSubmit={submit}>
        <Stack>
          {error !== null && <Problem title="The settings could not be read" error={error} />}
          {save.error !== null && <Problem title="The settings could not be saved" error={save.error} />}
          {config === undefined ? (
            <Skeleton height={260} />
          ) : (
            <>
              <Switch
                label="Run backfills"
                description="Switched off, they wait, also those that start."
                checked={config.enabled}
                onChange={(event) => setChanges({ ...changes, enabled: event.currentTarget.checked })}
              />
              {(Object.keys(FIELDS) as Name[]).map((name) => (
                <NumberInput
                  key={name}
                  label={FIELDS[name].label}
                  description={FIELDS[name].about}
                  min={FIELDS[name].min}
                  max={FIELDS[name].max}
                  allowDecimal={false}
                  required
                  withAsterisk={false}
                  value={config[name]}
                  onChange={(value) => value !== '' && setChanges({ ...changes, [name]: Number(value) })}
                />
              ))}
            </>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={Object.keys(changes).length === 0}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
