/**
 * What pages do better with JavaScript; each works without it. While a form is on its way its button says so and cannot be pressed again, a
 * password can be shown, and the server of a known address is filled in when the address is typed on the form itself.
 */
export const SCRIPT = `(() => {
  const forms = document.querySelectorAll('form')
  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) return event.preventDefault()
      form.dataset.sent = 'yes'
      const button = event.submitter
      const status = form.querySelector('.status')
      if (button && button.dataset.busy && status) status.textContent = button.dataset.busy
      // Later, because a disabled button's own value would not be sent.
      setTimeout(() => {
        for (const each of form.querySelectorAll('button[type=submit]')) each.disabled = true
        if (button) button.classList.add('busy')
      })
    })
  }
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return
    for (const form of forms) {
      delete form.dataset.sent
      const status = form.querySelector('.status')
      if (status) status.textContent = ''
      for (const button of form.querySelectorAll('button[type=submit]')) {
        button.disabled = false
        button.classList.remove('busy')
      }
    }
  })
  for (const button of document.querySelectorAll('[data-reveal]')) {
    const input = document.getElementById(button.dataset.reveal)
    button.hidden = false
    button.addEventListener('click', () => {
      const show = input.type === 'password'
      input.type = show ? 'text' : 'password'
      button.textContent = show ? 'Hide' : 'Show'
      button.setAttribute('aria-label', show ? 'Hide password' : 'Show password')
      input.focus()
    })
  }
  const known = document.getElementById('known-servers')
  if (known) {
    const servers = JSON.parse(known.textContent)
    const [email, host, port, username] = ['email', 'host', 'port', 'username'].map((id) => document.getElementById(id))
    email.addEventListener('change', () => {
      const server = servers[email.value.slice(email.value.lastIndexOf('@') + 1).trim().toLowerCase()]
      if (server && !host.value) { host.value = server; port.value = '993' }
      if (!username.value) username.value = email.value.trim()
    })
  }
})()`
