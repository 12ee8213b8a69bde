"""Checks the manifests in docker/kubernetes, as kubectl renders them.

    python3 kubernetes.py --binary .build/debug/borealis

Against the schemas of the oldest and the newest version of Kubernetes that the Python package kubernetes-validate has, which
refuse unknown fields, and against what no schema knows: that things which name each other exist, that the settings are those of the
program, and that a pod has the restrictions and the time to end that the server relies on.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import Any

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LABELS = {"app.kubernetes.io/name": "borealis"}
# What a node needs to hand its apps over, in seconds.
HANDOVER = 15


class Failed(Exception):
    """Something is wrong with the manifests."""


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Failed(message)


def render(folder: str) -> list[dict]:
    command = ["kubectl", "kustomize", str(ROOT / "docker/kubernetes" / folder)]
    return list(yaml.safe_load_all(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def settings(binary: str) -> set[str]:
    """The names of the program's settings."""
    page = subprocess.run([binary, "man", "borealis.conf"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name.replace("\\-", "-") for name in re.findall(r"\n\.TP\n\\fB(\S+)\\fR =", page)}


def lines(text: str) -> dict[str, str]:
    """The lines of a configuration file, also those that are comments and would be settings."""
    return dict(re.findall(r"^#?([a-z][a-z-]*) = (.+)$", text, re.MULTILINE))


def seconds(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([smh]?)", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]


def check_schemas(objects: list[dict]) -> None:
    versions = sorted(kubernetes_validate.utils.all_versions(), key=lambda version: [int(part) for part in version.split(".")])
    for version in (versions[0], versions[-1]):
        for one in objects:
            try:
                kubernetes_validate.validate(one, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                raise Failed(f"{one['kind']} {one['metadata']['name']}, {version}: {error}") from None


class Rendered:
    """What kubectl makes of a folder."""

    def __init__(self, folder: str):
        self.objects = render(folder)
        self.set = self.one("StatefulSet")
        self.pod = self.set["spec"]["template"]["spec"]
        (self.container,) = self.pod["containers"]
        self.configuration = self.one("ConfigMap")
        self.settings = lines(self.configuration["data"]["borealis.conf"])
        self.environment = {one["name"]: one.get("value", "") for one in self.container["env"]}

    def all(self, kind: str) -> list[dict]:
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind: str) -> dict:
        (found,) = self.all(kind)
        return found


def check_references(rendered: Rendered) -> None:
    """Labels, ports, volumes and services are there under the names by which others name them."""
    expect(rendered.set["spec"]["template"]["metadata"]["labels"] == LABELS, "labels of the pod")
    expect(rendered.set["spec"]["selector"]["matchLabels"] == LABELS, "selector of the set")
    services = {one["metadata"]["name"]: one["spec"] for one in rendered.all("Service")}
    expect(rendered.set["spec"]["serviceName"] in services, "the set's service is missing")
    ports = {port["name"]: port["containerPort"] for port in rendered.container["ports"]}
    for name, service in services.items():
        expect(service["selector"] == LABELS, f"selector of the service {name}")
        for port in service["ports"]:
            expect(port["targetPort"] in ports, f"port {port['name']} of the service {name}")
    for policy in rendered.all("NetworkPolicy"):
        named = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        expect(named == set(ports), f"the network policy is about {named}")
        alone = [rule for rule in policy["spec"]["ingress"] if {"port": "nodes"} in rule["ports"]]
        expect([rule.get("from") for rule in alone] == [[{"podSelector": {"matchLabels": LABELS}}]], "who may reach nodes")
    claims = [one["metadata"]["name"] for one in rendered.set["spec"].get("volumeClaimTemplates", [])]
    volumes = {one["name"]: one for one in rendered.pod["volumes"]} | {name: {} for name in claims}
    mounts = {one["name"]: one["mountPath"] for one in rendered.container["volumeMounts"]}
    expect(set(mounts) == set(volumes), f"volumes {set(volumes)}, mounts {set(mounts)}")
    expect(volumes["configuration"]["configMap"]["name"] == rendered.configuration["metadata"]["name"], "name of the configuration")
    expect(rendered.container["args"] == ["serve", "--config", mounts["configuration"] + "/borealis.conf"], "arguments")
    expect(rendered.environment["BOREALIS_DATA"].startswith(mounts["data"] + "/"), "the data folder is in no volume")


def check_settings(rendered: Rendered, known: set[str], image: dict[str, str]) -> None:
    """Settings exist, files are in secrets, ports are those of the image, and no secret stands in a manifest."""
    names = set(rendered.settings) | {name.removeprefix("BOREALIS_").lower().replace("_", "-")
                                      for name in rendered.environment if name.startswith("BOREALIS_")}  # fmt: skip
    expect(names <= known, f"no settings: {names - known}")
    for name in rendered.settings:
        variable = "BOREALIS_" + name.upper().replace("-", "_")
        expect(variable not in image, f"the image's {variable} wins over the file")
    mounts = {one["mountPath"]: one["name"] for one in rendered.container["volumeMounts"]}
    secrets = {one["name"]: one["secret"] for one in rendered.pod["volumes"] if "secret" in one}
    used = set()
    for name, value in rendered.settings.items():
        if value.startswith("/"):
            volume = mounts[str(pathlib.PurePath(value).parent)]
            # Group 10001 reads it; with any right for others the server refuses the key of its secrets.
            expect(secrets[volume]["defaultMode"] & 0o777 == 0o440, f"mode of the secret {volume}")
            used.add(volume)
        elif name in ("store", "bus", "smtp-password", "oidc-client-secret"):
            raise Failed(f"{name} belongs into a secret")
    expect(used == set(secrets), f"secrets {set(secrets)}, used {used}")
    ports = {port["name"]: str(port["containerPort"]) for port in rendered.container["ports"]}
    expect(image["BOREALIS_HTTP"].endswith(":" + ports["http"]), "the port of HTTP")
    expect(image["BOREALIS_DEVICE"].endswith(":" + ports["devices"]), "the port of devices")
    if "BOREALIS_NODE" in rendered.environment:
        expect(rendered.environment["BOREALIS_NODE"] == "$(POD_IP):" + ports["nodes"], "the port of nodes")


def check_pod(rendered: Rendered, user: int) -> None:
    """The pod may do no more than the unit of systemd lets the server do, and has the time to end."""
    security, own = rendered.pod["securityContext"], rendered.container["securityContext"]
    expect(security["runAsNonRoot"] and security["runAsUser"] == security["fsGroup"] == user, "the user")
    expect(security["seccompProfile"] == {"type": "RuntimeDefault"}, "system calls")
    expect(own == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
           "restrictions")  # fmt: skip
    expect(rendered.pod["automountServiceAccountToken"] is False, "no use for the API of Kubernetes")
    expect("memory" in rendered.container["resources"]["limits"], "a limit of memory, which the server sizes its own by")
    probes = {name: rendered.container[name + "Probe"] for name in ("startup", "liveness", "readiness")}
    paths = {name: probe["httpGet"]["path"] for name, probe in probes.items()}
    expect(paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}, f"probes {paths}")
    expect(all(probe["httpGet"]["port"] == "http" for probe in probes.values()), "ports of probes")
    expect(probes["startup"]["periodSeconds"] * probes["startup"]["failureThreshold"] >= 3600, "time for a migration")
    delay, drain = (seconds(rendered.settings[name]) for name in ("drain-delay", "drain-seconds"))
    ready = probes["readiness"]
    expect(delay > ready["periodSeconds"] * ready["failureThreshold"], "drain-delay is shorter than what notices it")
    expect(rendered.pod["terminationGracePeriodSeconds"] >= delay + drain + HANDOVER, "time to end")


def check_budget(rendered: Rendered) -> None:
    """Several nodes end one after the other; the only one would never."""
    budgets = [one["spec"] for one in rendered.all("PodDisruptionBudget")]
    expected = [{"maxUnavailable": 1, "selector": {"matchLabels": LABELS}}]
    expect(budgets == (expected if rendered.set["spec"]["replicas"] > 1 else []), f"disruption budgets {budgets}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, help="the built program")
    known = settings(parser.parse_args().binary)
    dockerfile = (ROOT / "docker/Dockerfile").read_text()
    image = dict(re.findall(r"(BOREALIS_\w+)=(\S+)", dockerfile))
    user = int(re.search(r"^USER (\d+)$", dockerfile, re.MULTILINE)[1])  # type: ignore[index]
    page = (ROOT / "Docs/operations/install.md").read_text()
    for folder in ("single", "cluster"):
        rendered = Rendered(folder)
        check_schemas(rendered.objects)
        check_references(rendered)
        check_settings(rendered, known, image)
        check_pod(rendered, user)
        check_budget(rendered)
        for volume in rendered.pod["volumes"]:
            name = volume.get("secret", {}).get("secretName")
            expect(not name or re.search(rf"create secret \w+ {name}\b", page), f"install.md does not make the secret {name}")
        print(f"ok - {folder}: {', '.join(one['kind'] for one in rendered.objects)}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"FAILED {failure}")
