import { Alert, Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { ApiError } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { IconTriangleAlert } from '../parts/icons.tsx'
import { BrandMark } from './brand.tsx'

export function SignIn() {
  const { signIn } = useSession()
  const [error, setError] = useState<ApiError | null>(null)
  const [isRunning, setRunning] = useState(false)
  const password = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Posthorn'
  }, [])

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    setRunning(true)
    setError(null)
    try {
      await signIn(String(values.get('username')), String(values.get('password')))
    } catch (thrown) {
      setError(thrown as ApiError)
      setRunning(false)
      password.current?.select()
    }
  }

  return (
    <main className="sign-in">
      <Paper withBorder shadow="sm" p="xl" className="sign-in-card">
        <form onSubmit={submit}>
          <Stack>
            <Stack gap={6} align="center" mb="xs">
              <BrandMark />
              <Title order={1} size="h3">
                Sign in to Posthorn
              </Title>
              <Text size="sm" c="dimmed">
                The admin portal of this service
              </Text>
            </Stack>
            {error !== null && (
              <Alert color="red" icon={<IconTriangleAlert />} role="alert">
                {error.message}
              </Alert>
            )}
            <TextInput
              label="User name"
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              required
              withAsterisk={false}
              autoFocus
            />
            <PasswordInput
              ref={password}
              label="Password"
              name="password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            />
            <Button type="submit" fullWidth loading={isRunning}>
              Sign in
            </Button>
            <Text size="xs" c="dimmed" ta="center">
              ADMIN_USERNAME and ADMIN_PASSWORD set them. Without them, the name is admin and the password is in the
              file admin-password of the data folder.
            </Text>
          </Stack>
        </form>
      </Paper>
    </main>
  )
}
