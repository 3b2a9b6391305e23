from __future__ import annotations

from pathlib import Path

import pytest

from modules.sandbox.backends.machine_evidence import machine_evidence


def root_with(base: Path, **files: str) -> Path:
    """Make a root of a file system with *files*, "__" in a name standing for a slash."""
    for name, text in files.items():
        path = base / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return base


PC = {
    "proc__1__cgroup": "0::/init.scope\n",
    "proc__self__cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
    "proc__cpuinfo": "flags\t\t: fpu vme vmx sse\nmodel name: QEMU on a hypervisor\n",
    "proc__sys__kernel__osrelease": "6.12.1-amd64\n",
    "sys__class__dmi__id__product_name": "ThinkPad X1\n",
    "sys__class__dmi__id__sys_vendor": "LENOVO\n",
}


def test_an_ordinary_machine_and_an_unknown_one_show_no_evidence(tmp_path: Path) -> None:
    assert machine_evidence(tmp_path / "nothing") == ""
    assert machine_evidence(root_with(tmp_path, **PC)) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run__.containerenv", ""),
        ("run__systemd__container", "lxc"),
        ("proc__1__cgroup", "0::/kubepods/burstable/pod1/x\n"),
        ("proc__self__cgroup", "5:memory:/docker/0a1b2c\n"),
        ("sys__class__dmi__id__sys_vendor", "QEMU\n"),
        ("sys__class__dmi__id__product_name", "Virtual Machine\n"),
        ("sys__class__dmi__id__product_name", "HVM domU Xen\n"),
        ("sys__class__dmi__id__sys_vendor", "VMware, Inc.\n"),
        ("proc__1__cgroup", "0::/system.slice/docker-0a1b.scope\n"),
        ("proc__1__cgroup", "0::/kubepods.slice/kubepods-burstable.slice/x\n"),
        ("proc__cpuinfo", "flags\t\t: fpu hypervisor sse\n"),
    ],
)
def test_a_container_and_a_virtual_machine_are_known_by_their_traces(
    tmp_path: Path, name: str, text: str
) -> None:
    root = root_with(tmp_path, **{**PC, name: text})
    assert machine_evidence(root) == "/" + name.replace("__", "/")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run__.toolboxenv", ""),
        ("run__host__container-manager", "podman"),
        ("run__host__container-manager", "flatpak"),
        ("run__host__etc__passwd", ""),
        (".flatpak-info", ""),
        ("proc__sys__kernel__osrelease", "5.15.90.1-microsoft-standard-WSL2\n"),
        ("run__WSL__1_interop", ""),
        ("proc__sys__fs__binfmt_misc__WSLInterop", "enabled\n"),
        ("proc__xen__capabilities", "control_d\n"),
    ],
)
def test_what_shows_the_persons_own_home_is_no_machine_to_give_away(
    tmp_path: Path, name: str, text: str
) -> None:
    hypervisor = {"proc__cpuinfo": "flags : hypervisor\n", "run__.containerenv": ""}
    assert machine_evidence(root_with(tmp_path, **{**PC, **hypervisor, name: text})) == ""


def test_a_docker_file_is_evidence(tmp_path: Path) -> None:
    (tmp_path / ".dockerenv").touch()
    assert machine_evidence(tmp_path) == "/.dockerenv"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proc__self__cgroup", "0::/system.slice/docker.service\n"),
        ("proc__self__cgroup", "0::/user.slice/user@1000.service/app.slice/podman.service\n"),
        ("proc__self__cgroup", "0::/system.slice/containerd.service\n"),
        ("sys__class__dmi__id__product_name", "XPG XENIA 15 KC\n"),
        ("sys__class__dmi__id__sys_vendor", "Microsoft Corporation\n"),
        ("sys__class__dmi__id__sys_vendor", "Amazon.com, Inc.\n"),
    ],
)
def test_a_host_of_containers_and_names_that_look_like_it_are_no_evidence(
    tmp_path: Path, name: str, text: str
) -> None:
    assert machine_evidence(root_with(tmp_path, **{**PC, name: text})) == ""


def test_a_container_of_systemd_is_known_though_it_names_its_manager(tmp_path: Path) -> None:
    files = {"run__systemd__container": _NSPAWN, "run__host__container-manager": _NSPAWN}
    assert machine_evidence(root_with(tmp_path, **PC, **files)) == "/run/systemd/container"


_NSPAWN = "systemd-nspawn\n"


@pytest.mark.parametrize("name", [".dockerenv", "run/.containerenv", "run/systemd/container"])
def test_an_unpacked_image_that_one_changed_root_into_is_no_container(
    tmp_path: Path, name: str
) -> None:
    """Its files are those of a container, its processes the machine's own."""
    root = root_with(tmp_path, **PC, **{name.replace("/", "__"): ""})
    assert machine_evidence(root) == f"/{name}"
    (root / "proc/self/ns").mkdir(parents=True)
    (root / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    assert machine_evidence(root) == ""
    (root / "proc/self/ns/pid").unlink()
    (root / "proc/self/ns/pid").symlink_to("pid:[4026532211]")
    assert machine_evidence(root) == f"/{name}"
