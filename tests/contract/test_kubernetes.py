"""The manifests of Kubernetes are valid, and agree with each other, the image, the settings and the routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import msgspec
import pytest
import yaml

from service.app import routes
from service.commands.cli import app as commands
from service.health.schema import QueueDepths
from service.host.supervisor import API_DRAIN_SECONDS, WORKER_STOP_SECONDS
from service.platform import config
from tests.rows import every

ROOT = Path(__file__).parents[2]
MACHINES = ROOT / "docs/operations/machines.md"
"""The page that tells of the manifests."""
FOLDER = ROOT / "service/deploy/kubernetes"
BASE, EXAMPLE = FOLDER / "base", FOLDER / "overlays/example"
FOREIGN = {"kustomize.config.k8s.io/v1beta1", "keda.sh/v1alpha1"}
"""API groups that Kubernetes itself does not have."""
OWN_KEYS = {"CUSHION_DATABASE_URL", "CUSHION_REDIS_URL", "CUSHION_SECRET_KEY", "CUSHION_MIGRATION_URL"}
Manifest = dict[str, Any]


def read(path: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


FILES = sorted(FOLDER.rglob("*.yaml"))
MANIFESTS = [(path, manifest) for path in FILES for manifest in read(path)]


def of_kind(kind: str, folder: Path = BASE) -> dict[str, Manifest]:
    """The manifests of a kind, by name."""
    return {
        manifest["metadata"]["name"]: manifest
        for path, manifest in MANIFESTS
        if manifest["kind"] == kind and path.parent == folder
    }


PODS = {name: item["spec"]["template"] for kind in ("Deployment", "Job") for name, item in of_kind(kind).items()}
CONTAINERS = {name: pod["spec"]["containers"][0] for name, pod in PODS.items()}
IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def settings_of(folder: Path) -> dict[str, str]:
    """What the ConfigMap says, the overlay's over the base's."""
    layers = [BASE] if folder == BASE else [BASE, folder]
    return {
        name: value
        for layer in layers
        for name, value in of_kind("ConfigMap", layer)["cushion-settings"]["data"].items()
    }


@every("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_manifest_is_valid(path: Path) -> None:
    patches = {EXAMPLE / patch["path"] for patch in read(EXAMPLE / "kustomization.yaml")[0]["patches"]}
    for manifest in read(path):
        if manifest["apiVersion"] in FOREIGN:
            continue
        whole = patched(manifest) if path in patches else manifest
        kubernetes_validate.validate(whole, kubernetes_validate.latest_version(), strict=True)


def patched(patch: Manifest) -> Manifest:
    """A patch over what it is for."""
    return merged(of_kind(patch["kind"])[patch["metadata"]["name"]], patch)


def merged(below: Any, above: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {name: merged(below.get(name), above[name]) if name in above else below[name] for name in below | above}


def test_a_false_manifest_is_found() -> None:
    false = merged(of_kind("Deployment")["cushion-api"], {"spec": {"replica": 2}})
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(false, kubernetes_validate.latest_version(), strict=True)


@every("folder", [BASE, EXAMPLE], ids=lambda folder: folder.name)
def test_a_kustomization_lists_all_its_files_and_no_others(folder: Path) -> None:
    (words,) = read(folder / "kustomization.yaml")
    listed = [*words["resources"], *(patch["path"] for patch in words.get("patches", ()))]
    assert len(listed) == len(set(listed))
    own = {name for name in listed if name.endswith(".yaml")}
    assert own == {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
    assert [(folder / name).resolve() for name in listed if not name.endswith(".yaml")] == [BASE] * (folder != BASE)


def test_containers_run_as_the_image_is_made() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", IMAGE, re.MULTILINE)
    port = re.search(r"^EXPOSE (\d+)$", IMAGE, re.MULTILINE)
    data = re.search(r"CUSHION_DATA_DIR=(\S+)", IMAGE)
    assert user
    assert port
    assert data
    assert f"CUSHION_PORT={port[1]} " in IMAGE
    assert f"--gid {user[2]} " in IMAGE
    for name, pod in PODS.items():
        spec, container = pod["spec"], CONTAINERS[name]
        securitycontext = spec["securityContext"]
        assert (securitycontext["runAsUser"], securitycontext["runAsGroup"]) == (int(user[1]), int(user[2])), name
        assert securitycontext["runAsNonRoot"] is True
        assert securitycontext["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert (spec["serviceAccountName"], spec["automountServiceAccountToken"]) == ("cushion", False)
        # Where the service writes, and what Python and its libraries take for temporary files.
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {data[1], "/tmp"}
        assert {volume["name"] for volume in spec["volumes"]} == {
            volumemount["name"] for volumemount in container["volumeMounts"]
        }
        assert container["command"][0] == "cushion"
        assert commands[container["command"][1]], name
        assert "memory" in container["resources"]["limits"]
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    metrics = int(settings_of(BASE)["CUSHION_METRICS_PORT"])
    ports = {name: [item["containerPort"] for item in box.get("ports", ())] for name, box in CONTAINERS.items()}
    assert ports == {"cushion-api": [int(port[1]), metrics], "cushion-worker": [metrics], "cushion-migrate": []}
    (rule,) = of_kind("NetworkPolicy")["cushion-metrics"]["spec"]["ingress"]
    assert [item["port"] for item in rule["ports"]] == [metrics]
    assert rule["from"], "figures are for whoever watches, and nobody else"
    for folder in (BASE, EXAMPLE):
        rules = of_kind("NetworkPolicy", folder)["cushion-api"]["spec"]["ingress"]
        assert {item["port"] for rule in rules for item in rule["ports"]} == {int(port[1])}
    (image,) = read(EXAMPLE / "kustomization.yaml")[0]["images"]
    assert {container["image"] for container in CONTAINERS.values()} == {image["name"]}


@every("folder", [BASE, EXAMPLE], ids=lambda folder: folder.name)
def test_settings_are_the_service_s_and_fit(folder: Path) -> None:
    input_settings = settings_of(folder)
    assert all(name.startswith(("CUSHION_", "AWS_")) for name in input_settings)
    secrets = dict.fromkeys(OWN_KEYS, "x" * 32)
    assert config.unknown(input_settings | secrets) == []
    settings = config.load(input_settings)
    grace = {name: pod["spec"].get("terminationGracePeriodSeconds") for name, pod in PODS.items()}
    assert grace["cushion-api"] >= settings.draining_seconds + API_DRAIN_SECONDS + 5
    assert grace["cushion-worker"] >= settings.worker_drain_seconds + WORKER_STOP_SECONDS
    assert settings.workers == 1, "the autoscaler counts pods"
    memory = {
        name: int(container["resources"]["limits"]["memory"].removesuffix("Gi"))
        for name, container in CONTAINERS.items()
        if name != "cushion-migrate"
    }
    children = settings.evaluators * settings.evaluation_memory_mb
    calculators = settings.calculators * settings.calculator_memory_mb
    children += calculators + settings.probes * settings.parse_memory_mb
    children += settings.sync_fallback_jobs * max(settings.parse_memory_mb, settings.export_memory_mb)
    assert memory["cushion-api"] * 1024 >= settings.api_memory_mb + children
    jobs = settings.parse_memory_mb + settings.recalculation_memory_mb
    jobs += settings.reconciliation_memory_mb + settings.export_memory_mb
    assert memory["cushion-worker"] * 1024 >= 1024 + calculators + settings.worker_jobs * jobs
    most = of_kind("HorizontalPodAutoscaler")["cushion-api"]["spec"]["maxReplicas"]
    most += of_kind("ScaledObject", EXAMPLE)["cushion-worker"]["spec"]["maxReplicaCount"] + 2  # a new pod of each
    text = MACHINES.read_text(encoding="utf-8")
    assert f"{most * (settings.database_connections + 1)} connections" in text, "what PostgreSQL must bear"


def test_secrets_are_named_and_not_told() -> None:
    assert not [path for path, manifest in MANIFESTS if manifest["kind"] == "Secret"]
    named = set()
    for name, container in CONTAINERS.items():
        whole = [source["secretRef"]["name"] for source in container.get("envFrom", ()) if "secretRef" in source]
        single = [item["valueFrom"]["secretKeyRef"] for item in container.get("env", ())]
        named |= {*whole, *(item["name"] for item in single)}
        assert ("cushion-owner" in {item["name"] for item in single}) == (name == "cushion-migrate"), (
            "the owner's rights"
        )
        assert {item["key"] for item in single} <= OWN_KEYS
    text = MACHINES.read_text(encoding="utf-8")
    assert named == {"cushion-service", "cushion-owner"}
    assert all(word in text for word in named | OWN_KEYS)


def paths() -> Iterator[str]:
    """Every path that something in the cluster asks by itself."""
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        yield CONTAINERS["cushion-api"][probe]["httpGet"]["path"]
    (trigger,) = of_kind("ScaledObject", EXAMPLE)["cushion-worker"]["spec"]["triggers"]
    yield urlsplit(trigger["metadata"]["url"]).path


def test_what_is_asked_is_there_for_everybody() -> None:
    asked = set(paths())
    actual_paths = {
        route.path for route in routes() if route.method == "GET" and route.access == "public" and not route.limited
    }
    assert asked <= actual_paths, asked - actual_paths
    assert "/health/ready" in asked


def test_what_refers_to_something_finds_it() -> None:
    deployments = of_kind("Deployment")
    for name, deployment in deployments.items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert of_kind("PodDisruptionBudget")[name]["spec"]["selector"] == deployment["spec"]["selector"]
        for spread in deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            assert spread["labelSelector"] == deployment["spec"]["selector"]
        assert "replicas" not in deployment["spec"], "it would undo what the autoscaler has done"
    service = of_kind("Service")["cushion-api"]["spec"]
    assert service["selector"] == deployments["cushion-api"]["spec"]["selector"]["matchLabels"]
    (entry,) = service["ports"]
    assert entry["targetPort"] in {container["name"] for container in CONTAINERS["cushion-api"]["ports"]}
    scaled = [item["spec"]["scaleTargetRef"]["name"] for item in of_kind("HorizontalPodAutoscaler").values()]
    scaled += [item["spec"]["scaleTargetRef"]["name"] for item in of_kind("ScaledObject", EXAMPLE).values()]
    assert sorted(scaled) == sorted(deployments), "each is scaled by one alone"
    (rule,) = of_kind("Ingress", EXAMPLE)["cushion"]["spec"]["rules"]
    backends = [path["backend"]["service"] for path in rule["http"]["paths"]]
    assert backends == [{"name": "cushion-api", "port": {"name": entry["name"]}}] * len(backends)


def test_the_public_reaches_console_api_and_documentation_and_nothing_else() -> None:
    """By the paths of the ingress; and mails link to its host."""
    (ingress,) = of_kind("Ingress", EXAMPLE).values()
    (rule,) = ingress["spec"]["rules"]
    shown = [(path["path"], path["pathType"]) for path in rule["http"]["paths"]]

    def is_public(path: str) -> bool:
        prefixes = [prefix.rstrip("/") for prefix, kind in shown if kind == "Prefix"]
        return (path, "Exact") in shown or any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes)

    hidden = {route.path for route in routes() if not is_public(route.path)}
    assert hidden == {"/metrics", *(path for path in hidden if path.startswith("/health"))}
    assert {"/health", "/health/ready"} <= hidden
    assert all(is_public(path) for path in ("/", "/console/", "/docs/guide/", "/openapi.json"))
    assert not is_public("/consoles")
    assert of_kind("ConfigMap", EXAMPLE)["cushion-settings"]["data"]["CUSHION_APP_URL"] == f"https://{rule['host']}"


def test_keda_s_object_has_its_shape() -> None:
    (scaled,) = of_kind("ScaledObject", EXAMPLE).values()
    spec = scaled["spec"]
    assert scaled["apiVersion"] == "keda.sh/v1alpha1"
    assert set(spec) == {
        *("scaleTargetRef", "minReplicaCount", "maxReplicaCount"),
        *("pollingInterval", "cooldownPeriod", "fallback", "triggers"),
    }
    assert 1 <= spec["minReplicaCount"] <= spec["maxReplicaCount"]
    assert set(spec["fallback"]) == {"failureThreshold", "replicas"}
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "metrics-api"
    assert set(trigger["metadata"]) == {"url", "valueLocation", "targetValue"}
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    assert float(trigger["metadata"]["targetValue"]) > 0
    assert trigger["metadata"]["valueLocation"] in {field.name for field in msgspec.structs.fields(QueueDepths)}
    namespace = read(EXAMPLE / "kustomization.yaml")[0]["namespace"]
    assert urlsplit(trigger["metadata"]["url"]).hostname == f"cushion-api.{namespace}.svc"
    assert set(of_kind("Namespace", EXAMPLE)) == {namespace}
