"""JPush's schedule API, through its own client: a scenario of end_to_end.py."""

import datetime
import json
from typing import Any

from push_api import Refused, jpush
from stage import Failed, expect, expect_equal

CHINA = datetime.timezone(datetime.timedelta(hours=8))  # the zone of a server that is told of no other
INVALID, NO_SUCH_SCHEDULE = 8100, 8104


def in_seconds(seconds: int) -> str:
    moment = datetime.datetime.now(CHINA) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def single(time: str) -> dict:
    return jpush.schedule.schedulepayload.trigger(time) if jpush else {"single": {"time": time}}


def periodical(time_unit: str, frequency: int, point: list[str] | None) -> dict:
    start, end, time = "2030-01-01 00:00:00", "2030-12-31 23:59:59", "08:00:00"
    if jpush:
        return jpush.schedule.schedulepayload.trigger(time, start, end, time_unit, frequency, point)
    trigger = {"time": time, "start": start, "end": end, "time_unit": time_unit, "frequency": frequency}
    return {"periodical": trigger | ({"point": point} if point is not None else {})}


def push(alert: str) -> dict:
    return {"platform": "all", "audience": "all", "notification": {"alert": alert}}


def payload(name: str, trigger: dict, alert: str) -> dict:
    if jpush:
        return jpush.schedule.schedulepayload.schedulepayload(name, True, trigger, push(alert))
    return {"name": name, "enabled": True, "trigger": trigger, "push": push(alert)}


async def schedules(scene: Any) -> None:
    """Schedules are made, listed, changed and deleted, and one fires at its time"""
    api, phone = scene.api, await scene.phone("phone").start()
    made = await scene.call(api.post_schedule, payload("soon", single(in_seconds(3)), "scheduled"))
    expect_equal(sorted(made), ["name", "schedule_id"], "members of the answer")
    for unit, point in [("day", None), ("week", ["MON", "FRI"]), ("MONTH", ["01", "31"])]:
        await scene.call(api.post_schedule, payload(unit, periodical(unit, 2, point), "never"))
    await refused(scene, INVALID, api.post_schedule, payload("a-b", single(in_seconds(60)), "x"))
    await refused(scene, INVALID, api.post_schedule, payload("past", single(in_seconds(-60)), "x"))

    listed = await scene.call(api.schedules, 1)
    names = [one["name"] for one in listed["schedules"]]
    expect_equal(names[-3:], ["day", "week", "MONTH"], "names in the list")
    week = next(one for one in listed["schedules"] if one["name"] == "week")
    expect_equal(await scene.call(api.schedule, week["schedule_id"]), week, "the schedule by its ID")
    changed = await scene.call(api.put_schedule, week["schedule_id"], {"name": "weekly", "enabled": False})
    expect_equal(changed, week | {"name": "weekly", "enabled": False}, "the changed schedule")
    await scene.call(api.delete_schedule, week["schedule_id"])
    await refused(scene, NO_SUCH_SCHEDULE, api.schedule, week["schedule_id"])
    await refused(scene, NO_SUCH_SCHEDULE, api.delete_schedule, "no-uuid")

    await phone.shows("scheduled")
    runs = await scene.call(api.schedule_runs, made["schedule_id"])
    expect_equal(runs["count"], 1, "how often it has fired")
    run = json.loads(runs["msgids"][0])
    expect_equal(int(run["msg_id"]), phone.pushes[0].msg_id, "msg_id of the schedule and on the device")
    expect(run["error"]["code"] == 0 and not run["needRetry"], "it has no error")
    await refused(scene, INVALID, api.put_schedule, made["schedule_id"], {"name": "over"})


async def refused(scene: Any, code: int, function: Any, *arguments: Any) -> None:
    try:
        await scene.call(function, *arguments)
    except Refused as refusal:
        expect_equal(refusal.code, code, "code of the refusal")
    else:
        raise Failed(f"a request was taken that has to be refused with {code}")
