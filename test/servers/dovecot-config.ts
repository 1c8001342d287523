import type { DovecotOptions } from './dovecot.ts'

/** Capabilities that Debian's Dovecot 2.3 announces after login. Clients treat hidden ones as missing. */
const CAPABILITIES = `IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT SORT=DISPLAY THREAD=REFERENCES THREAD=REFS
  THREAD=ORDEREDSUBJECT MULTIAPPEND URL-PARTIAL CATENATE UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED I18NLEVEL=1
  CONDSTORE QRESYNC ESEARCH ESORT SEARCHRES WITHIN CONTEXT=SEARCH LIST-STATUS BINARY MOVE SNIPPET=FUZZY PREVIEW=FUZZY
  PREVIEW STATUS=SIZE SAVEDATE LITERAL+ NOTIFY SPECIAL-USE`.split(/\s+/)

export interface DovecotPorts {
  imap: number
  imaps: number
  lmtp: number
}

/** The configuration of one temporary server in `folder`, in Dovecot 2.3 syntax. */
export function dovecotConfig(folder: string, host: string, ports: DovecotPorts, options: DovecotOptions): string {
  const hidden = new Set((options.hideCapabilities ?? []).map((name) => name.toUpperCase()))
  const capability =
    hidden.size > 0 ? `imap_capability = ${CAPABILITIES.filter((name) => !hidden.has(name)).join(' ')}` : ''
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap lmtp
listen = ${host}
instance_name = ${folder.split('/').at(-1) ?? 'dovecot'}

ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = ${['plain', 'login', ...(options.oauth === undefined ? [] : ['oauthbearer', 'xoauth2'])].join(' ')}
auth_failure_delay = 0
${capability}

first_valid_uid = 1
mail_location = sdbox:~/mail
mail_fsync = never
mail_max_userip_connections = ${options.maxUserIpConnections ?? 100}
lmtp_save_to_detail_mailbox = yes
recipient_delimiter = +
lda_mailbox_autocreate = yes
hostname = mail.example.test
postmaster_address = postmaster@example.test

namespace inbox {
  inbox = yes
  separator = ${options.separator ?? '/'}
  prefix = ${options.prefix ?? ''}
  mailbox Archive {
    special_use = \\Archive
    auto = subscribe
  }
  mailbox Drafts {
    special_use = \\Drafts
    auto = subscribe
  }
  mailbox Junk {
    special_use = \\Junk
    auto = subscribe
  }
  mailbox Sent {
    special_use = \\Sent
    auto = subscribe
  }
  mailbox Trash {
    special_use = \\Trash
    auto = subscribe
  }
}

${options.oauth === undefined ? '' : oauthPassdb(folder)}
# Dovecot rereads a passwd-file only after a second, so a changed password would take effect late.
# The home directory of a user never changes.
passdb {
  driver = checkpassword
  args = ${folder}/checkpassword
}
userdb {
  driver = passwd-file
  args = username_format=%u ${folder}/users/%u
}

default_client_limit = 4000
default_process_limit = 1500
service imap-login {
  service_count = 0
  process_min_avail = 1
  process_limit = 4
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
service lmtp {
  process_min_avail = 1
  inet_listener lmtp {
    port = ${ports.lmtp}
  }
}
# Without this, a wrong password delays the next valid login by up to 15 s.
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  client_limit = 4000
}
${options.authPort === undefined ? '' : authService(host, options.authPort)}
${options.extraConfig ?? ''}
`
}

function authService(host: string, port: number): string {
  return `
service auth {
  inet_listener {
    address = ${host}
    port = ${port}
  }
}
`
}

/** First, because the other one would try a token as a password. */
function oauthPassdb(folder: string): string {
  return `
passdb {
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = ${folder}/oauth2.conf
}
`
}

/** Asks the issuer about each token (RFC 7662). */
export function dovecotOAuthConfig({ introspectionUrl }: NonNullable<DovecotOptions['oauth']>): string {
  return `
introspection_mode = post
introspection_url = ${introspectionUrl}
username_attribute = sub
active_attribute = active
active_value = true
`
}

/** Dovecot passes user and password on descriptor 3, and expects its reply program to run when they are valid. */
export function checkPasswordScript(folder: string): string {
  return `#!/bin/bash
IFS= read -r -d '' -u 3 user
IFS= read -r -d '' -u 3 password
[[ $user != */* && -f ${folder}/passwords/$user ]] || exit 1
IFS= read -r expected < "${folder}/passwords/$user"
[[ $password == "$expected" ]] || exit 1
export USER=$user
exec "$1"
`
}
