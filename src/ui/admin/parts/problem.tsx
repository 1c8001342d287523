import { Alert, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core'
import type { ApiError } from '../api/client.ts'
import { IconRotateCcw, IconTriangleAlert } from './icons.tsx'

/** Shows what failed, what to do about it, and the id by which the logs name the request. */
export function Problem({ error, onRetry, title }: { error: ApiError | Error; onRetry?: () => void; title?: string }) {
  const { details, requestId, docUrl } = error as Partial<ApiError>
  return (
    <Alert color="red" icon={<IconTriangleAlert />} title={title ?? 'That did not work'} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {details !== undefined && details.length > 0 && (
          <ul className="plain-list">
            {details.map(({ path, message }) => (
              <li key={path + message}>
                <Code>{path.replace(/^(body|query)\./, '')}</Code> {message}
              </li>
            ))}
          </ul>
        )}
        <Group gap="md">
          {onRetry !== undefined && (
            <Button size="compact-sm" variant="default" leftSection={<IconRotateCcw size={14} />} onClick={onRetry}>
              Try again
            </Button>
          )}
          {docUrl !== undefined && (
            <Anchor size="sm" href={docUrl} target="_blank" rel="noreferrer">
              About this error
            </Anchor>
          )}
          {requestId !== undefined && (
            <Text size="xs" c="dimmed">
              Request <Code>{requestId}</Code>
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}
