"""What JPush's own client calls besides pushes, reports and schedules: scenarios of end_to_end.py."""

from typing import Any

from push_api import EVERYONE, Audience, Refused
from stage import Failed, expect, expect_equal

NO_SUCH_AUDIENCE = 1011


async def device_api(scene: Any) -> None:
    """Aliases, tags and numbers that the API sets are there, by platform, and go when it deletes them"""
    api = scene.api
    anna, ben = await scene.phone("anna").start(), await scene.phone("ben").start()
    first, second = (str(phone.device.registration_id) for phone in (anna, ben))
    await scene.call(api.set_mobile, first, "13800000000")
    expect_equal((await scene.call(api.device, first))["mobile"], "13800000000", "mobile number")
    await scene.call(api.update_tag, "vip", {"registration_ids": {"add": [first, second]}})
    expect_equal(await scene.call(api.tags), ["vip"], "list of tags")
    expect(await scene.call(api.has_tag, "vip", second), "the tag is not on the second device")
    await scene.call(api.update_tag, "vip", {"registration_ids": {"remove": [second]}})
    expect(not await scene.call(api.has_tag, "vip", second), "the tag is still on the second device")
    await scene.call(api.delete_tag, "vip", "ios")
    expect(await scene.call(api.has_tag, "vip", first), "the tag went with that of another platform")
    await scene.call(api.delete_tag, "vip")
    expect(not await scene.call(api.has_tag, "vip", first), "the tag is still on the first device")
    for device in first, second:
        await scene.call(api.update_device, device, {"alias": "both"})
    expect_equal(
        sorted(await scene.call(api.devices_of_alias, "both", "android")), sorted([first, second]), "alias"
    )
    expect_equal(await scene.call(api.devices_of_alias, "both", "ios"), [], "alias on another platform")
    await scene.call(api.delete_alias, "both", "ios")
    expect_equal(len(await scene.call(api.devices_of_alias, "both")), 2, "devices of the alias")
    await scene.call(api.delete_alias, "both")
    expect_equal(await scene.call(api.devices_of_alias, "both"), [], "devices of the deleted alias")
    statuses = await scene.call(api.statuses, [first, "nonsense"])
    expect_equal(statuses, {first: {"online": True}, "nonsense": {}}, "states of devices")


async def validation(scene: Any) -> None:
    """A push that is only checked is answered like a push and reaches nobody; cids of both kinds are given"""
    phone = await scene.phone("phone").start()
    answer = await scene.call(scene.api.validate, EVERYONE, "checked")
    expect_equal(sorted(answer), ["msg_id", "sendno"], "members of the answer")
    expect(int(answer["msg_id"]) > 0, "the msg_id is no number")
    try:
        await scene.call(scene.api.validate, Audience("alias", ("nobody",)), "checked")
    except Refused as refusal:
        expect_equal(refusal.code, NO_SUCH_AUDIENCE, "code of the refusal")
    else:
        raise Failed("a push to nobody passed the check")
    cids = [*await scene.call(scene.api.cids, 2, "push"), *await scene.call(scene.api.cids, 1, "schedule")]
    expect_equal(len(set(cids)), 3, "different cids")
    await scene.push(EVERYONE, "pushed")
    await phone.shows("pushed")
