/**
 * Optional improvements; every page works without JavaScript. It blocks a second submit and shows progress, lets the user
 * show the password, and opens the settings without a new page.
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
      // Deferred, because the browser does not send the value of a disabled button.
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
      button.textContent = show ? button.dataset.hide : button.dataset.show
      button.setAttribute('aria-label', show ? button.dataset.hideLabel : button.dataset.showLabel)
      input.focus()
    })
  }
  for (const button of document.querySelectorAll('[data-opens]')) {
    button.addEventListener('click', (event) => {
      event.preventDefault()
      const settings = document.getElementById(button.dataset.opens)
      settings.open = true
      settings.querySelector('input:not([type=hidden])').focus()
    })
  }
})()`
