//! Which arguments of which commands are secrets.

/// How an argument carries the secret.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// `-p secret`
    Next,
    /// `-psecret`
    Glued,
    /// `-u user:secret`
    Pair,
    /// `-uuser:secret`
    GluedPair,
    /// `-u user,secret`
    Comma,
    /// `-U user%secret`
    Percent,
    /// `-b user secret`
    Second,
    /// `-nb user secret`
    AfterUser,
    /// `-passin pass:secret`
    Prefixed,
}

/// Command, flag, form.
pub(super) const ARGUMENTS: &[(&str, &str, Form)] = &[
    ("curl", "-u", Form::Pair),
    ("curl", "--user", Form::Pair),
    ("curl", "-U", Form::Pair),
    ("curl", "--proxy-user", Form::Pair),
    ("http ", "-a", Form::Pair),
    ("http ", "--auth", Form::Pair),
    ("wget", "--http-passwd", Form::Next),
    ("docker", "-p", Form::Next),
    ("podman", "-p", Form::Next),
    ("helm", "-p", Form::Next),
    ("sshpass", "-p", Form::Next),
    ("sshpass", "-p", Form::Glued),
    ("mysql", "-p", Form::Glued),
    ("mariadb", "-p", Form::Glued),
    ("mongo", "-p", Form::Next),
    ("redis-cli", "-a", Form::Next),
    ("redis-cli", "--pass", Form::Next),
    ("ldap", "-w", Form::Next),
    ("htpasswd", "-b", Form::Second),
    ("htpasswd", "-nb", Form::AfterUser),
    ("htpasswd", "-bn", Form::AfterUser),
    ("ncftp", "-p", Form::Next),
    ("openssl", "-passin", Form::Prefixed),
    ("openssl", "-passout", Form::Prefixed),
    ("openssl", "-pass", Form::Prefixed),
    ("openssl", "-k", Form::Next),
    ("smbclient", "-U", Form::Percent),
    ("az login", "-p", Form::Next),
    ("gh secret set", "--body", Form::Next),
    ("gh secret set", "-b", Form::Next),
    ("useradd", "-p", Form::Next),
    ("7z ", "-p", Form::Glued),
    ("zip ", "-P", Form::Next),
    ("gpg ", "--passphrase", Form::Next),
    ("xfreerdp", "/p:", Form::Glued),
    ("psexec", "-p", Form::Next),
    ("curl", "-u", Form::GluedPair),
    ("curl", "-U", Form::GluedPair),
    ("https ", "-a", Form::Pair),
    ("https ", "--auth", Form::Pair),
    ("lftp", "-u", Form::Comma),
    ("sqlcmd", "-P", Form::Next),
    ("sqlcmd", "-P", Form::Glued),
    ("bcp ", "-P", Form::Next),
    ("osql", "-P", Form::Next),
    ("cqlsh", "-p", Form::Next),
    ("mosquitto_", "-P", Form::Next),
    ("mongosh", "-p", Form::Next),
    ("openssl", "-K", Form::Next),
    ("openssl", "-pass:", Form::Next),
    ("ssh-keygen", "-N", Form::Next),
    ("ssh-keygen", "-P", Form::Next),
    ("rpcclient", "-U", Form::Percent),
    ("oc login", "-p", Form::Next),
    ("cf login", "-p", Form::Next),
    ("ibmcloud login", "-p", Form::Next),
    ("unzip", "-P", Form::Next),
    ("unrar", "-p", Form::Glued),
    ("rar ", "-p", Form::Glued),
    ("rar ", "-hp", Form::Glued),
    ("plink", "-pw", Form::Next),
    ("pscp", "-pw", Form::Next),
    ("putty", "-pw", Form::Next),
    ("rdesktop", "-p", Form::Next),
    ("schtasks", "/rp", Form::Next),
    ("schtasks", "/p", Form::Next),
    ("cmdkey", "/pass:", Form::Glued),
    ("wmic", "/password:", Form::Glued),
    ("winrs", "-p:", Form::Glued),
    ("evil-winrm", "-p", Form::Next),
    ("crackmapexec", "-p", Form::Next),
    ("netexec", "-p", Form::Next),
    ("snmpwalk", "-c", Form::Next),
    ("snmpget", "-c", Form::Next),
    ("ipmitool", "-P", Form::Next),
    ("vncviewer", "-passwd", Form::Next),
    ("svn ", "--password", Form::Next),
    ("mysqladmin", "-p", Form::Glued),
];

/// Commands whose argument is the secret, by its position: the first word after
/// the command is number one. Options are not counted.
pub(super) const WORDS: &[(&str, usize)] = &[
    ("net user", 2),
    ("rabbitmqctl add_user", 2),
    ("rabbitmqctl change_password", 2),
    ("snmp-server community", 1),
    ("isakmp key", 1),
    ("wpa_passphrase", 2),
    ("enable secret", 1),
    ("enable password", 1),
    ("server key", 1),
    ("server-key", 1),
    ("key-string", 1),
    ("ascii-text", 1),
    ("wpa-psk ascii", 1),
    ("message-digest-key", 3),
    ("redis-cli auth", 1),
    ("bw unlock", 1),
    ("bw login", 2),
    ("vault login", 1),
    ("operator unseal", 1),
    ("mc alias set", 4),
    ("ngrok authtoken", 1),
    ("rclone obscure", 1),
    ("password -set", 1),
    ("http-basic.", 3),
];

/// Every command of both tables.
pub(in super::super) fn commands() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.iter().map(|(command, ..)| *command).chain(WORDS.iter().map(|(words, _)| *words))
}
