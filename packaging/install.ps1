# Installs prosescope @VERSION@ for the current user on Windows, as one file in ~\.local\bin.
#
#   ./install.ps1 [-From FOLDER|URL] [-To FOLDER]
#
# -From  where the archive and SHA256SUMS are [default: the project's releases]
# -To    the folder to install into [default: ~\.local\bin]

param(
    [string] $From = '@REPOSITORY@/releases/download/v@VERSION@',
    [string] $To = (Join-Path $HOME '.local\bin')
)

$ErrorActionPreference = 'Stop'

if ($From -like '*.invalid/*') {
    throw 'This copy of install.ps1 has no address to download from. Name one with -From FOLDER|URL.'
}
if ($env:PROCESSOR_ARCHITECTURE -ne 'AMD64') {
    throw "There is no prosescope for the processor $env:PROCESSOR_ARCHITECTURE. Build it from source: cargo xtask install"
}

$target = 'x86_64-pc-windows-msvc'
$archive = "prosescope-$target.zip"
$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    foreach ($name in 'SHA256SUMS', $archive) {
        if ($From -match '^https?://') {
            Invoke-WebRequest -UseBasicParsing -Uri "$From/$name" -OutFile (Join-Path $work $name)
        } else {
            Copy-Item (Join-Path $From $name) (Join-Path $work $name)
        }
    }
    $line = Get-Content (Join-Path $work 'SHA256SUMS') | Where-Object { $_.EndsWith("  $archive") }
    if (-not $line) {
        throw "SHA256SUMS does not list $archive. Check that $From is a release of prosescope."
    }
    $wanted = $line.Split(' ')[0]
    $found = (Get-FileHash -Algorithm SHA256 (Join-Path $work $archive)).Hash
    if ($found -ne $wanted) {
        throw "$archive is damaged: its sum is $found, and SHA256SUMS says $wanted. Download it again."
    }
    Expand-Archive -Path (Join-Path $work $archive) -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    $program = Join-Path $To 'prosescope.exe'
    Copy-Item -Force (Join-Path $work "prosescope-$target\prosescope.exe") $program
} finally {
    Remove-Item -Recurse -Force $work
}

Write-Output "Installed prosescope @VERSION@ as $program. To remove it, delete that file."
if (($env:PATH -split ';') -notcontains $To) {
    Write-Output "$To is not in PATH. Add it: [Environment]::SetEnvironmentVariable('PATH', `"$To;`$([Environment]::GetEnvironmentVariable('PATH', 'User'))`", 'User')"
}
