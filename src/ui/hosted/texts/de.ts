import type { Texts } from './index.ts'

/** German. */
export const de: Texts = {
  'start.title': 'Postfach verbinden',
  'start.titleTo': 'Postfach mit {app} verbinden',
  'start.lead': 'Geben Sie die E-Mail-Adresse des Postfachs ein, das Sie verbinden möchten.',
  'start.continue': 'Weiter',
  'start.or': 'oder wählen Sie Ihren Anbieter',
  'start.choose': 'Weiter mit {provider}',
  'start.otherProvider': 'Weiter mit einem anderen Anbieter',
  'start.disconnect': 'Sie können die Verbindung jederzeit trennen.',
  'reconnect.title': 'Postfach erneut verbinden',
  'reconnect.text': 'Melden Sie sich noch einmal an, damit es verbunden bleibt.',
  'consent.lead': 'Melden Sie sich bei {provider} an und prüfen Sie die Berechtigungen.',
  'consent.leadAs': 'Melden Sie sich bei {provider} als {email} an und prüfen Sie die Berechtigungen.',
  'consent.promise': 'Ihr Passwort bekommen wir nie zu sehen. Sie können die Verbindung jederzeit trennen.',
  'consent.usePassword': 'Stattdessen ein Passwort verwenden',
  'grants.title': 'Die App möchte:',
  'grants.titleTo': '{app} möchte:',
  'grants.new': 'Die App möchte jetzt auch:',
  'grants.newTo': '{app} möchte jetzt auch:',
  'grants.kept': 'Bereits erlaubt:',
  'grants.read': 'Ihre Nachrichten lesen',
  'grants.change': 'Nachrichten markieren, verschieben und löschen',
  'grants.send': 'Nachrichten in Ihrem Namen senden',
  'grants.calendarRead': 'Ihre Kalender ansehen',
  'grants.calendarChange': 'Termine in Ihren Kalendern ansehen und ändern',
  'grants.contactsRead': 'Ihre Kontakte ansehen',
  'grants.contactsChange': 'Ihre Kontakte ansehen und ändern',
  'continue.title': 'Weiter mit {provider}',
  'continue.text': 'Sie werden zur Anmeldung weitergeleitet.',
  'connected.title': 'Postfach verbunden',
  'connected.text': '{email} ist verbunden. Sie werden zurückgeleitet.',
  'connected.textTo': '{email} ist verbunden. Sie werden zu {app} zurückgeleitet.',

  'page.error': 'Fehler: {title}',
  'page.cancel': 'Abbrechen',
  'page.return': 'Zurück zur App',
  'page.returnTo': 'Zurück zu {app}',
  'page.retry': 'Erneut versuchen',
  'page.help': 'Hilfe',
  'page.privacy': 'Datenschutz',

  'imap.title': 'Beim Postfach anmelden',
  'imap.lead':
    'Wir haben den Mailserver dieser Adresse nicht gefunden. Verwenden Sie dieselben Einstellungen wie in Ihrem E-Mail-Programm.',
  'imap.connect': 'Postfach verbinden',
  'imap.connecting': 'Anmeldung beim Mailserver. Das kann einige Sekunden dauern.',
  'imap.chooseFolder': 'Ordner auswählen',
  'imap.reloadFolders': 'Ordner neu laden',
  'imap.loadingFolders': 'Ihre Ordner werden geladen. Das kann einige Sekunden dauern.',
  'imap.promise': 'Ihr Passwort wird verschlüsselt und nur für den Zugriff auf dieses Postfach verwendet.',
  'imap.back': 'Andere Adresse verwenden',
  'imap.more': 'Weitere Einstellungen',
  'imap.legend': 'Empfang (IMAP)',
  'imap.server': 'Server: {host}',
  'imap.edit': 'Ändern',
  'imap.enterServer': 'Mailserver selbst eingeben',
  'folders.title': 'Ordner auswählen',
  'folders.lead': 'Sie sind angemeldet. Wählen Sie den Ordner, der verbunden werden soll.',
  'folders.label': 'Ordner, der verbunden wird',

  'email.label': 'E-Mail-Adresse',
  'email.placeholder': 'name@beispiel.de',
  'password.label': 'Passwort',
  'password.appLabel': 'App-Passwort',
  'password.show': 'Anzeigen',
  'password.hide': 'Verbergen',
  'password.showIt': 'Passwort anzeigen',
  'password.hideIt': 'Passwort verbergen',
  'password.entered': 'Bereits eingegeben',
  'password.enteredHint':
    'Leer lassen, um das bereits eingegebene Passwort zu verwenden. Wenn Sie den Server oder den Benutzernamen ändern, geben Sie es noch einmal ein.',
  'host.label': 'IMAP-Server',
  'port.label': 'Port',
  'username.label': 'Benutzername',
  'username.hint': 'Meist Ihre E-Mail-Adresse.',
  'username.enteredHint':
    'Leer lassen, um den Benutzernamen beizubehalten. Wenn Sie den Server ändern, geben Sie ihn noch einmal ein.',
  'mailbox.label': 'Ordner',
  'mailbox.hint': 'Der Ordner, der verbunden wird. Standard: INBOX.',
  'secure.label': 'Verschlüsselung',
  'secure.hint': '„Automatisch“ verwendet STARTTLS auf Port 143 und sonst TLS.',
  'secure.automatic': 'Automatisch',
  'certificate.label': 'Nicht überprüfbares Zertifikat akzeptieren',
  'certificate.hint':
    'Nur für einen Server, den Sie selbst betreiben. Sonst könnte jemand im Netzwerk Ihr Passwort mitlesen.',
  'smtp.legend': 'Versand (SMTP)',
  'smtp.hint': 'Leer lassen, um die Einstellungen automatisch zu ermitteln.',
  'smtp.host': 'SMTP-Server',
  'smtp.port': 'SMTP-Port',
  'smtp.secure': 'SMTP-Verschlüsselung',
  'smtp.username': 'SMTP-Benutzername',
  'smtp.password': 'SMTP-Passwort',
  'caldav.legend': 'Kalender (CalDAV)',
  'caldav.hint': 'Leer lassen, um den Kalender automatisch zu suchen.',
  'caldav.url': 'Kalender-URL',
  'caldav.username': 'Kalender-Benutzername',
  'caldav.password': 'Kalender-Passwort',
  'same.username': 'Leer lassen, um den IMAP-Benutzernamen zu verwenden.',
  'same.password': 'Leer lassen, um das IMAP-Passwort zu verwenden.',

  'name.email': 'E-Mail-Adresse',
  'name.password': 'Passwort',
  'name.host': 'IMAP-Server',
  'name.port': 'Port',
  'name.username': 'Benutzername',
  'name.mailbox': 'Ordner',
  'name.secure': 'Verschlüsselung',
  'name.allowSelfSigned': 'Nicht überprüfbares Zertifikat akzeptieren',
  'name.smtpHost': 'SMTP-Server',
  'name.smtpPort': 'SMTP-Port',
  'name.smtpSecure': 'SMTP-Verschlüsselung',
  'name.smtpUsername': 'SMTP-Benutzername',
  'name.smtpPassword': 'SMTP-Passwort',
  'name.caldavUrl': 'Kalender-URL',
  'name.caldavUsername': 'Kalender-Benutzername',
  'name.caldavPassword': 'Kalender-Passwort',

  'invalid.summary': 'Prüfen Sie dieses Feld',
  'invalid.summaryMany': 'Prüfen Sie diese {count} Felder',
  'invalid.required': 'Füllen Sie das Feld „{field}“ aus.',
  'invalid.port': '„{field}“ muss eine Zahl von 1 bis 65535 sein.',
  'invalid.allowedPorts': 'Bei „{field}“ sind nur diese Ports erlaubt: {ports}.',
  'invalid.host': '„{field}“ muss ein Hostname oder eine Adresse ohne Port und Pfad sein.',
  'invalid.url': '„{field}“ muss eine vollständige Webadresse sein, zum Beispiel https://dav.example.com/.',
  'invalid.folder': 'Diesen Ordner gibt es auf dem Mailserver nicht.',
  'invalid.tooLong': '„{field}“ ist zu lang.',
  'invalid.other': '„{field}“ ist ungültig.',
  'invalid.address': 'Geben Sie eine E-Mail-Adresse wie name@beispiel.de ein.',
  'invalid.noAddress': 'Geben Sie Ihre E-Mail-Adresse ein.',
  'invalid.noChoice': 'Geben Sie Ihre E-Mail-Adresse ein oder wählen Sie Ihren Anbieter.',

  'requirement.appPassword':
    '{provider} verlangt hier ein App-Passwort statt des üblichen Passworts. Sie können es in den Sicherheitseinstellungen Ihres {provider}-Kontos erstellen.',
  'requirement.appPasswordHere': '{provider} verlangt hier ein App-Passwort statt des üblichen Passworts.',
  'requirement.imapEnabled':
    'Bei {provider} müssen Sie zuerst in den E-Mail-Einstellungen den IMAP-Zugriff einschalten.',
  'requirement.mailPassword':
    '{provider} verlangt das eigene Passwort für E-Mail-Programme, das Sie im Kundencenter festlegen.',

  'noPasswords.title': 'Hier funktioniert kein Passwort',
  'noPasswords.signIn': '{provider} lässt Apps nur über die eigene Anmeldeseite zu. Melden Sie sich dort an.',
  'noPasswords.text':
    '{provider} lässt Apps nur über die eigene Anmeldeseite zu, und diese App kann solche Postfächer noch nicht verbinden.',
  'bridge.title': 'Dieses Postfach kann noch nicht verbunden werden',
  'bridge.text':
    '{provider} öffnet Postfächer für andere Apps nur über die Bridge-App. Diese App kann solche Postfächer nicht direkt verbinden.',

  'guide.appPassword': 'So erstellen Sie ein App-Passwort',
  'guide.imap': 'So schalten Sie den IMAP-Zugriff ein',
  'guide.newTab': 'wird in einem neuen Tab geöffnet',
  'guide.open': 'Öffnen Sie {link} und melden Sie sich an.',
  'guide.menu': 'Wählen Sie {menu}.',
  'guide.verification': 'Falls {menu} ausgeschaltet ist, schalten Sie es unter {link} ein.',
  'guide.check': 'Schalten Sie {menu} ein und speichern Sie.',
  'guide.name': 'Geben Sie einen Namen wie „Mail“ ein und wählen Sie {menu}.',
  'guide.twoFactor':
    'Wenn Sie die Zwei-Faktor-Authentifizierung nutzen, erstellen Sie unter {link} ein App-Passwort und geben Sie es hier statt des üblichen Passworts ein.',
  'guide.code': 'Bestätigen Sie Ihre Identität. Ihr Passwort für diese Seite ist der angezeigte Code ({menu}).',
  'guide.paste': 'Kopieren Sie das neue Passwort und fügen Sie es auf dieser Seite in das Feld ein.',
  'menu.googleVerification': 'Bestätigung in zwei Schritten',
  'menu.googleCreate': 'Erstellen',
  'menu.appleSecurity': 'Anmelden und Sicherheit',
  'menu.applePasswords': 'App-spezifische Passwörter',
  'menu.appleGenerate': 'App-spezifisches Passwort erstellen',
  'menu.yahooCreate': 'App-Passwort generieren',
  'menu.yahooGenerate': 'Passwort generieren',

  'imap_auth_failed.title': 'Der Mailserver hat die Anmeldung abgelehnt',
  'imap_auth_failed.text':
    'Prüfen Sie Benutzername und Passwort. Manche Anbieter verlangen ein App-Passwort oder dass Sie zuerst den IMAP-Zugriff einschalten.',
  'imap_auth_failed.textPassword': 'Prüfen Sie das Passwort und versuchen Sie es erneut.',
  'imap_unreachable.title': 'Der Mailserver ist nicht erreichbar',
  'imap_unreachable.text': 'Prüfen Sie den Namen des IMAP-Servers, den Port und die Verschlüsselung.',
  'imap_tls.title': 'Die Verbindung ist nicht sicher',
  'imap_tls.text':
    'Das Zertifikat gilt nicht für diesen Servernamen, oder der Server bietet kein STARTTLS an. Prüfen Sie Server, Port und Verschlüsselung.',
  'smtp_auth_failed.title': 'Der SMTP-Server hat die Anmeldung abgelehnt',
  'smtp_auth_failed.text':
    'Die Anmeldung beim Postfach hat funktioniert, die für den Versand nicht. Prüfen Sie SMTP-Benutzername und SMTP-Passwort.',
  'smtp_unreachable.title': 'Der SMTP-Server ist nicht erreichbar',
  'smtp_unreachable.text': 'Prüfen Sie den Namen des SMTP-Servers, den Port und die Verschlüsselung.',
  'smtp_tls.title': 'Die Verbindung für den Versand ist nicht sicher',
  'smtp_tls.text':
    'Das Zertifikat des SMTP-Servers gilt nicht für seinen Namen, oder der Server bietet kein STARTTLS an. Prüfen Sie Server, Port und Verschlüsselung.',
  'caldav_auth_failed.title': 'Der Kalenderserver hat die Anmeldung abgelehnt',
  'caldav_auth_failed.text':
    'Die Anmeldung beim Postfach hat funktioniert, die beim Kalender nicht. Prüfen Sie Kalender-Benutzername und Kalender-Passwort.',
  'caldav_unreachable.title': 'Unter dieser URL wurde kein Kalender gefunden',
  'caldav_unreachable.text':
    'Prüfen Sie die Kalender-URL. Sie beginnt meist mit https:// und steht in den Einstellungen Ihres Kalenderanbieters.',
  'caldav_tls.title': 'Die Verbindung zum Kalender ist nicht sicher',
  'caldav_tls.text': 'Das Zertifikat des Kalenderservers gilt nicht für seinen Namen. Prüfen Sie die Kalender-URL.',

  'problem.certificate_self_signed.text':
    'Das Zertifikat dieses Servers ist selbst signiert: Niemand bürgt dafür. Prüfen Sie den Servernamen. Wenn Sie den Server selbst betreiben, können Sie das Zertifikat unten akzeptieren.',
  'problem.certificate_untrusted.text':
    'Das Zertifikat dieses Servers ist unvollständig oder stammt von einer unbekannten Stelle. Prüfen Sie den Servernamen oder fragen Sie die Betreiber des Servers.',
  'problem.certificate_expired.text':
    'Das Zertifikat dieses Servers ist abgelaufen. Bitten Sie die Betreiber des Servers, es zu erneuern, und versuchen Sie es dann erneut.',
  'problem.certificate_not_yet_valid.text':
    'Das Zertifikat dieses Servers ist noch nicht gültig. Fragen Sie die Betreiber des Servers.',
  'problem.certificate_wrong_host.text':
    'Das Zertifikat dieses Servers gilt für einen anderen Servernamen. Geben Sie den Namen ein, den Ihr E-Mail-Anbieter in seiner Anleitung nennt.',
  'problem.starttls_not_offered.text':
    'Der Server bietet auf diesem Port kein STARTTLS an. Prüfen Sie den Port oder wählen Sie TLS als Verschlüsselung.',
  'problem.encryption_required.text':
    'Der Server lässt ohne Verschlüsselung niemanden anmelden. Wählen Sie TLS oder STARTTLS und prüfen Sie den Port.',
  'problem.no_password_login.title': 'Der Server akzeptiert keine Passwörter',
  'problem.no_password_login.text':
    'Der Server lässt Apps nur auf Wegen zu, die diese Seite nicht unterstützt. Bitten Sie die Betreiber des Servers, die Anmeldung mit Passwort zu erlauben.',

  'session_used.title': 'Dieser Link wurde bereits verwendet',
  'session_used.text':
    'Darüber wurde ein Postfach verbunden. Um ein weiteres zu verbinden, fordern Sie in der App, aus der Sie kamen, einen neuen Link an.',
  'session_expired.title': 'Dieser Link ist abgelaufen',
  'session_expired.text':
    'Zu Ihrer Sicherheit gelten Links nur eine begrenzte Zeit. Kehren Sie zur App zurück, aus der Sie kamen, und beginnen Sie von vorn.',
  'not_found.title': 'Dieser Link ist ungültig',
  'not_found.text':
    'Vielleicht fehlt ein Teil davon. Öffnen Sie den vollständigen Link noch einmal oder fordern Sie einen neuen an.',
  'route_not_found.title': 'Seite nicht gefunden',
  'route_not_found.text':
    'Unter dieser Adresse gibt es keine Seite. Kehren Sie zur App zurück, aus der Sie kamen, und beginnen Sie von vorn.',
  'site.title': 'Posthorn läuft',
  'site.lead': 'Dieser Dienst verbindet Postfächer mit einer Anwendung, über eine REST-API und signierte Webhooks.',
  'site.connected': 'Das Postfach ist verbunden. Sie können diese Seite schließen.',
  'site.notConnected':
    'Es wurde kein Postfach verbunden. Der Link gilt weiterhin, Sie können es noch einmal versuchen.',
  'site.portal': 'Adminportal',
  'site.portalHint': 'Konten, Webhooks, Buchungen und Protokolle',
  'site.portalSignIn': 'Benutzer {user}, Passwort in {place}',
  'site.docs': 'Dokumentation',
  'site.docsHint': 'Anleitungen, und alle Funktionen mit Beispielen zum Kopieren',
  'site.errors': 'Fehlercodes',
  'site.errorsHint': 'Was sie bedeuten und ob ein neuer Versuch hilft',
  'site.openapi': 'OpenAPI-Dokument',
  'site.openapiHint': 'Für Codegeneratoren und API-Clients',
  'site.health': 'Zustand',
  'site.healthHint': 'Der aktuelle Zustand, für die Überwachung',
  'site.visitor': 'Um ein Postfach zu verbinden, öffnen Sie den Link aus der App, die danach fragt.',
  'site.notFound':
    'Unter dieser Adresse gibt es keine Seite. Prüfen Sie sie auf Tippfehler. Um ein Postfach zu verbinden, öffnen Sie den Link aus der App noch einmal.',
  'site.home': 'Zur Startseite',
  'open_again.title': 'Bitte öffnen Sie den Link noch einmal',
  'open_again.text':
    'Zu Ihrer Sicherheit muss jeder Schritt in dem Browser erfolgen, der den Link geöffnet hat, und in begrenzter Zeit. Es wurde nichts übermittelt.',
  'consent_denied.title': 'Der Zugriff wurde nicht erlaubt',
  'consent_denied.text':
    'Es wurde kein Postfach verbunden. Um Ihres zu verbinden, versuchen Sie es erneut und erlauben Sie den Zugriff.',
  'consent_incomplete.title': 'Eine Berechtigung fehlt',
  'consent_incomplete.text':
    'Um Ihr Postfach zu verbinden, ist die Berechtigung zum Lesen nötig. Versuchen Sie es erneut und lassen Sie alle Kästchen angekreuzt.',
  'consent_unknown.title': 'Diese Anmeldung ist ungültig',
  'consent_unknown.text':
    'Sie wurde nicht hier begonnen. Kehren Sie zur App zurück, aus der Sie kamen, und beginnen Sie von vorn.',
  'consent_used.title': 'Diese Anmeldung ist nicht mehr gültig',
  'consent_used.text':
    'Sie wurde bereits verwendet oder hat zu lange gedauert. Öffnen Sie den Link aus der App noch einmal.',
  'consent_failed.title': 'Bei Ihrem E-Mail-Anbieter gab es ein Problem',
  'consent_failed.text': 'Ihr Anbieter konnte die Anmeldung nicht abschließen. Versuchen Sie es gleich noch einmal.',
  'consent_refused.title': 'Diese App ist nicht richtig eingerichtet',
  'consent_refused.text':
    'Ihr E-Mail-Anbieter kann nicht verbunden werden. Sie können das nicht selbst beheben: Wenden Sie sich an die Betreiber der App.',
  'mailbox_refused.title': 'Das Postfach konnte nicht geöffnet werden',
  'mailbox_refused.text':
    'Sie sind angemeldet, aber Ihr Anbieter hat zu diesem Konto kein Postfach. Wenn Sie ein anderes Konto haben, versuchen Sie es damit.',
  'mailbox_mismatch.title': 'Das ist ein anderes Postfach',
  'mailbox_mismatch.text':
    'Mit diesem Link verbinden Sie {email} erneut. Versuchen Sie es noch einmal und melden Sie sich bei diesem Postfach an.',
  'rate_limited.title': 'Zu viele Versuche',
  'rate_limited.text':
    'Warten Sie einige Minuten und versuchen Sie es erneut. Wenn es dann nicht klappt, fordern Sie einen neuen Link an.',
  'licence_limit.title': 'Diese App kann keine weiteren Postfächer aufnehmen',
  'licence_limit.text': 'Die Höchstzahl der Postfächer ist erreicht. Wenden Sie sich an die Betreiber der App.',
  'unavailable.title': 'Bitte versuchen Sie es gleich noch einmal',
  'unavailable.text':
    'Der Dienst ist vorübergehend nicht verfügbar. Ihr Link gilt weiter: Öffnen Sie ihn in einer Minute erneut.',
  'too_large.title': 'Das ist zu viel Text',
  'too_large.text':
    'Es wurde nichts übermittelt. Gehen Sie zurück, kürzen Sie das längste Feld und versuchen Sie es erneut.',
  'damaged.title': 'Diese Anfrage ist ungültig',
  'damaged.text': 'Sie wurde unterwegs beschädigt. Öffnen Sie den Link aus der App noch einmal.',
  'wrong_method.title': 'Diese Seite kann nicht direkt geöffnet werden',
  'wrong_method.text': 'Öffnen Sie den Link aus der App noch einmal.',
  'incomplete.title': 'Dieser Link ist unvollständig',
  'incomplete.text':
    'Ein Teil davon fehlt. Öffnen Sie den vollständigen Link noch einmal oder fordern Sie einen neuen an.',
  'failed.title': 'Etwas ist schiefgelaufen',
  'failed.text': 'Das Problem liegt bei uns. Versuchen Sie es gleich noch einmal.',
}
