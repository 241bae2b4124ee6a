"""Plays a plan: sets the stage, lets everything happen, and has it judged."""

import gc
import sqlite3
import traceback
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from math import inf
from pathlib import Path

from flask import Flask

from petstore import create_app
from petstore.concurrency import Delayed
from petstore.models.grants import FULL_GRANT, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan as Terms
from petstore.models.projects import Project
from petstore.settings import read_settings
from petstore.storage import db, migrator
from petstore.storage.database import close_databases
from petstore.storage.engine import CompiledQuery
from petstore.upkeep.projects import set_suspended
from tests.harness import statements
from tests.harness.routes import compile_once
from tests.together.simulation import rules
from tests.together.simulation.clients import KINDS, Visitor
from tests.together.simulation.disk import Disk, FailingFiles
from tests.together.simulation.histories import OF_COUNTERS
from tests.together.simulation.history import History, Tenant
from tests.together.simulation.network import Network
from tests.together.simulation.plan import (
    KEYS,
    PAGE_LIMITS,
    PAGE_ORIGIN,
    SUSPENDED,
    Client,
    Fault,
    Outcome,
    Plan,
)
from tests.together.simulation.redis import Redis
from tests.together.simulation.service import Service, at_once
from tests.together.simulation.world import START_MS, Stuck, World

RECOVERY_SECONDS = 3.0  # after the last fault, until everything is served again
SETTLED_SECONDS = 90.0  # until no connection is left, however long a client lingers
LIMITS = {"shelter": (1000, 100_000), "kennel": (20, 900)}
LIMITS |= {"rival": (300, 10_000), "quiet": (100, 5_000)}
PAGE_GRANT = Grant("public", *PAGE_LIMITS, (PAGE_ORIGIN,))
PAGES = ("base", "macros", "sign_in", "home", "pets", "keys")
SET_ROWS = "UPDATE project SET max_rows = ? WHERE id = ?"
REVOKE = "UPDATE api_key SET revoked_ms = ? WHERE prefix = ? AND revoked_ms IS NULL"


class Template:
    """A migrated database with tenants and their keys, to be copied for each run."""

    def __init__(self, directory: Path) -> None:
        """Make it in an empty directory; to be called before any other simulation."""
        warnings.simplefilter("ignore", ResourceWarning)  # of what was killed
        compile_once()
        self.root = directory
        self.files = directory / "template"
        self.files.mkdir()
        self.shim = FailingFiles()
        world = World(0)
        url = f"sqlite:///{self.files}/petstore.db"
        Service(world, Network(world), self._disk(world), None, {})
        app = create_app(read_settings({"DATABASE_URL": url}))
        list(migrator.migrate())
        self.tenants = list(self._add_tenants())
        self.suspending, self.resuming = map(self._change_of, (True, False))
        self._rehearse(app)
        close_databases()

    def _rehearse(self, app: Flask) -> None:
        """Import, compile and cache what each run would have to by itself."""
        for path in ("/v1/pets", "/openapi.json"):
            app.test_client().get(path)
        for page in PAGES:
            app.jinja_env.get_template(f"{page}.html")
        for each in gc.get_objects():
            if isinstance(each, CompiledQuery):
                # It may depend on choices, or on PostgreSQL.
                with suppress(TypeError, AttributeError):
                    each._compile(each._database.obj, ())
            elif isinstance(each, Delayed):
                each.is_started = False  # what it would call never runs in a copy

    def _add_tenants(self) -> Iterator[tuple[str, int, list[str]]]:
        for name, (per_minute, per_day) in LIMITS.items():
            terms = Terms("enterprise", per_minute, per_day)
            project = Project.add(name.capitalize(), name, terms)
            grants = [FULL_GRANT] * KEYS + [PAGE_GRANT]
            keys = [Key.issue(project, grant) for grant in grants]
            yield name, project.id, keys

    def _change_of(self, is_suspended: bool) -> list[tuple]:
        """Return the statements by which the command suspends or resumes a project."""
        with statements.recorded() as recorded:
            set_suspended(Project.get(slug=SUSPENDED), is_suspended)
        return [(each.sql, each.values or ()) for each in recorded]

    def _disk(self, world: World) -> Disk:
        return Disk(world, self.shim, self.files, self.root)

    def play(self, plan: Plan) -> Outcome:
        """Play a plan, once in each process."""
        gc.disable()  # what is collected must not depend on the process
        return Stage(self, World(plan.seed), plan).play()


class Stage:
    """The world of one run with everything in it."""

    def __init__(self, template: Template, world: World, plan: Plan) -> None:
        self.plan, self.world = plan, world
        self.network = Network(world)
        self.disk = Disk(world, template.shim, template.files, template.root)
        self.disk.outlive()
        self.redis = Redis(world) if plan.options.get("redis") else None
        if self.redis:
            self.network.servers["redis"] = self.redis
        self.history = History(
            {
                name: Tenant(name, number, *LIMITS[name], self._rows_of(name), keys)
                for name, number, keys in template.tenants
            },
            plan.options.get("proxies", 0),
        )
        for each in self.history.tenants.values():
            if each.rows < inf:
                at_once(str(self.disk.file), (SET_ROWS, (each.rows, each.id)))
        self.suspending, self.resuming = template.suspending, template.resuming
        self.service = Service(world, self.network, self.disk, self.redis, plan.options)

    def _rows_of(self, name: str) -> float:
        return inf if name == "shelter" else self.plan.options.get("rows", inf)

    def play(self) -> Outcome:
        """Let everything happen; return what became of it."""
        self.world.start(self._direct())
        try:
            self.service.run()
        except Stuck as error:
            self.world.faults.append(f"nobody starves: {error}")
        except Exception as error:  # noqa: BLE001 (the worker's process ends)
            lines = "".join(traceback.format_exception(error))
            self.world.faults.append(f"no traceback: {lines[-1500:]}")
        self.disk.break_down("not at all")
        faults = self.world.faults + list(rules.judge(self))
        entries, counts = self.history.entries, self.world.counts
        counts["replays"] = sum(each.is_replay for each in entries)
        counts["forms"] = sum(each.is_form for each in entries)
        for name, code in (
            ("refusals by role", "key_not_allowed"),
            ("refusals of a suspended project", "project_suspended"),
        ):
            counts[name] = sum(each.code == code for each in entries)
        seconds, digest = self.world.now - 1000, self.world.digest.hexdigest()
        told = (digest, seconds, len(entries), dict(counts), self.world.notes)
        return Outcome(self.plan, faults, *told)

    async def _direct(self) -> None:
        acts = [self.world.start(self._fail(fault)) for fault in self.plan.faults]
        acts += [
            self.world.start(self._visitor(each).run()) for each in self.plan.clients
        ]
        for act in acts:
            await act.until_rung()
        await self.world.sleep(RECOVERY_SECONDS)
        await self._probe()
        while self.network.open_sockets():
            await self.world.sleep(1.0)
            if self.world.now > self.probed_at + SETTLED_SECONDS:
                break
        await self.world.sleep(10.0)
        if db.obj._writer.locked():  # what is old may be deleted just now
            await self.world.sleep(5.0)
        rules.look_at_rest(self)
        self.service.is_over = True
        self.service.stop()

    def _visitor(self, client: Client) -> Visitor:
        return KINDS[client.kind](self.world, self.network, self.history, client)

    async def _probe(self) -> None:
        """Do a little of everything, all of which must be served again."""
        self.probed_at = self.world.now
        visitor = Visitor(
            self.world, self.network, self.history, Client("probe", "api", 0.0, key=3)
        )
        send, pets, orders = visitor.send, "/v1/pets", "/v1/store/orders"
        self.probes = probes = [await send("probe", "GET", "/readyz")]
        pet = {"name": "probe", "categoryId": 1}
        probes.append(await send("createPet", "POST", pets, body=pet))
        pet_id = (probes[-1].json or {}).get("id", 1)
        probes.append(await send("createOrder", "POST", orders, body={"petId": pet_id}))
        path, name = f"{pets}/{pet_id}", {"name": "corrected"}
        probes.append(await send("updatePet", "PATCH", path, body=name))
        probes.append(await send("getPet", "GET", path))
        visitor.leave()

    async def _fail(self, fault: Fault) -> None:
        await self.world.sleep(fault.start)
        kind, _, how = fault.what.partition(" ")
        if kind == "redis" and not self.redis:
            return
        self.world.note("fault", f"{fault.what} for {fault.seconds:.3f} s")
        await getattr(self, f"_{kind}")(fault, how)
        self.world.note("fault", f"{fault.what} has ended")

    async def _redis(self, fault: Fault, how: str) -> None:
        if how == "cut":
            self.redis.cut()
        elif how == "cut amid a hit":
            self.redis.cuts_hit = True
        else:
            self.redis.fail(how)
            await self.world.sleep(fault.seconds)
            self.redis.fail("up")

    async def _disk(self, fault: Fault, how: str) -> None:
        if how == "stalled":
            self.disk.is_stalled = True
        else:
            self.disk.break_down(how)
        failed = self.disk.shim.failed
        await self.world.sleep(fault.seconds)
        self.world.counts["failed disk calls"] += self.disk.shim.failed - failed
        self.disk.is_stalled = False
        self.disk.break_down("not at all")

    async def _locked(self, fault: Fault, _how: str) -> None:
        """Keep the writer's lock of a file, as another process may."""
        end = OF_COUNTERS if fault.what == "counters locked" else ""
        file = f"{self.disk.file}{end}"
        ends = self.world.now + fault.seconds
        while self.world.now < ends:
            try:
                with closing(sqlite3.connect(file, timeout=0)) as other:
                    other.execute("BEGIN IMMEDIATE")
                    self.world.counts["locked"] += 1
                    await self.world.sleep(ends - self.world.now)
            except sqlite3.OperationalError:
                await self.world.sleep(0.005)

    _counters = _locked

    async def _kill(self, fault: Fault, _how: str) -> None:
        """Kill the worker as soon as it has committed something, or after a while."""
        commits, ends = self.disk.commits, self.world.now + fault.seconds
        while self.disk.commits == commits and self.world.now < ends:
            await self.world.sleep(0.0002)
        self.service.kill()

    async def _stop(self, _fault: Fault, _how: str) -> None:
        self.service.stop()

    async def _clock(self, fault: Fault, _how: str) -> None:
        self.world.set_back_ms += (fault.pick % 61 - 30) * 1000
        self.world.counts["clock steps"] += 1

    async def _revoke(self, fault: Fault, _how: str) -> None:
        """Revoke a key on the command line, which is another process."""
        tenant = self.history.tenants["shelter"]
        number = fault.pick % (KEYS - 1)
        prefix = tenant.keys[number][:16]
        if await self._command((REVOKE, (START_MS, prefix))):
            tenant.revoked_at.setdefault(number, self.world.now)
            self.world.counts["revocations"] += 1

    async def _suspend(self, fault: Fault, _how: str) -> None:
        """Suspend a project on the command line, and resume it."""
        times = self.history.tenants[SUSPENDED].suspended
        if await self._command(*self.suspending):
            began_at = self.world.now
            times.append((began_at, inf))
            self.world.counts["suspensions"] += 1
            await self.world.sleep(fault.seconds)
            if await self._command(*self.resuming):
                times[-1] = began_at, self.world.now

    async def _command(self, *statements: tuple) -> bool:
        """Write as a command does; return False if it gives up on a locked file."""
        ends = self.world.now + 30
        while self.world.now < ends:
            if at_once(str(self.disk.file), *statements):
                return True
            await self.world.sleep(0.007)
        return False
